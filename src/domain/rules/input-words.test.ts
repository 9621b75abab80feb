import { expect, test } from 'vitest'
import * as z from 'zod'
import { forPeople, problemOf } from './input-words.ts'

const problem = (type: z.ZodType, value: unknown) => problemOf(type.safeParse(value).error!.issues[0]!)

test.each<[string, z.ZodType, unknown, string]>([
  ['an empty text', z.string().min(1), '', 'must not be empty'],
  ['a short text', z.string().min(3), 'a', 'must have at least 3 characters'],
  ['a long text', z.string().max(3), 'abcd', 'may have at most 3 characters'],
  ['a small number', z.number().min(1), 0, 'must be at least 1'],
  ['a number that must be more', z.number().positive(), 0, 'must be more than 0'],
  ['a large number', z.number().max(1000), 1001, 'must be at most 1000'],
  ['a number that must be less', z.number().lt(5), 5, 'must be less than 5'],
  ['an empty list', z.array(z.string()).min(1), [], 'must not be empty'],
  ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'may have at most 1 entry'],
  ['a fraction', z.int(), 1.5, 'must be a whole number'],
  ['a text for a number', z.number(), 'x', 'must be a number'],
  ['a number for a text', z.string(), 1, 'must be text'],
  ['a text for a switch', z.boolean(), 'x', 'must be true or false'],
  ['a text for a list', z.array(z.string()), 'x', 'must be a list'],
  ['a text for an object', z.object({}), 'x', 'must be an object'],
  ['nothing', z.string(), undefined, 'is missing; it must be text'],
  ['another choice', z.enum(['a', 'b', 'c']), 'd', 'must be a, b or c'],
  ['another value', z.literal('a'), 'd', 'must be a'],
  ['another time', z.iso.datetime(), 'noon', 'must be a time such as 2026-11-18T09:30:00Z'],
  ['another date', z.iso.date(), 'noon', 'must be a date such as 2026-11-18'],
  ['another address', z.url(), 'x', 'must be a web address such as https://example.com'],
  ['an e-mail address', z.email(), 'x', 'must be an e-mail address'],
  ['another form', z.string().regex(/^a$/), 'b', 'is not in the right form'],
  ['a union', z.union([z.string().min(1), z.number()]), '', 'must not be empty'],
  ['a problem that the schema names', z.string().min(1, 'needs a few words'), '', 'needs a few words'],
])('%s is refused in plain words', (_, type, value, words) => {
  expect(problem(type, value)).toBe(words)
})

test.each([
  ['title', 'title: must not be empty', 'The title must not be empty.'],
  ['title', 'title: is missing; it must be text', 'The title is missing.'],
  ['team_id', 'team_id: is missing: there is no team yet', 'The team is missing: there is no team yet.'],
  ['handle', 'handle: is taken', 'The name is taken.'],
  ['detailed_prompt', 'detailed_prompt: is missing: say what to do', 'The task is missing: say what to do.'],
  ['base_branch', 'base_branch: there is no branch "x"', 'Base branch: there is no branch "x".'],
  ['path', 'path: /nope does not exist.', '/nope does not exist.'],
  ['host', 'host: Other machines can reach it.', 'Other machines can reach it.'],
  ['max_concurent', 'max_concurent: is not a setting', '"max_concurent" is not a setting.'],
  ['grants', 'grants: are more than Ada has', 'The roles are more than Ada has.'],
  // What people typed themselves stays as they typed it.
  ['--port', '--port: must be a number', '--port: must be a number'],
  ['stages[0].name', 'stages[0].name: must not be empty', 'stages[0].name: must not be empty'],
  ['fleet.toml, line 3', 'fleet.toml, line 3: x', 'fleet.toml, line 3: x'],
  [undefined, 'There is no mission "x".', 'There is no mission "x".'],
])('the field %s is named as people know it', (field, message, words) => {
  expect(forPeople(message, field)).toBe(words)
})
