import { expect, test } from 'vitest'
import { Forbidden } from '../domain/errors.ts'
import type { Cli } from './command.ts'
import { namesIn } from './names.ts'

const NAMES = { names: [{ id: 'a1', kind: 'person', name: 'Ada' }] }

/** A terminal whose fleet gives these answers. */
const aTerminal = (answers: Record<string, object>): Cli =>
  ({
    ask: async (operation: string) => {
      if (answers[operation]) return answers[operation]
      throw new Forbidden('An agent may not ask for this.')
    },
  }) as unknown as Cli

test.each([
  ['the owner', { list_names: NAMES, who_am_i: { kind: 'owner' } }, ['you', 'Ada', 'service:x']],
  ['a person', { list_names: NAMES, who_am_i: { kind: 'person' } }, ['the owner', 'Ada', 'service:x']],
  ['an agent, who may not know', {}, ['the owner', 'person:a1', 'service:x']],
])('%s reads who acted', async (_, answers, called) => {
  const actors = ['person', 'person:a1', 'service:x']
  const who = await namesIn(aTerminal(answers), actors)
  expect(actors.map(who)).toEqual(called)
})

test('other failures are not hidden', async () => {
  const broken = { ask: () => Promise.reject(new Error('The connection was lost.')) } as unknown as Cli
  await expect(namesIn(broken, ['person'])).rejects.toThrow('The connection was lost.')
})

test('nobody is asked for where no person acted', async () => {
  const who = await namesIn(aTerminal({}), ['fleet', null, 'session:s1'])
  expect(who('fleet')).toBe('fleet')
})
