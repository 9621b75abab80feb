import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Format, type Item, takenOut } from './document.ts'
import { json } from './json-format.ts'
import { spansOf } from './json-spans.ts'
import { reconciled } from './reconcile.ts'
import { toml } from './toml-format.ts'

const ROUNDS = process.env.FLEET_TEST_SCALE === 'full' ? 3000 : 150
let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'flotilla-bytes-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

type Random = (below: number) => number
type Made = { value: unknown; text: string }

/** The same numbers every time, so that a failure can be reproduced. */
function seeded(seed: number): Random {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
}

const oneOf = <T>(random: Random, all: readonly T[]): T => all[random(all.length)]!

const SERVER: Item = { path: ['mcpServers', 'flotilla'], value: { command: 'fleet', args: ['mcp'], trust: true } }
const RULE: Item = { path: ['permissions', 'allow'], value: 'mcp__flotilla__*', element: true }

describe('everything else in a file stays as it was', () => {
  test.each(['plain JSON', 'with comments', 'JSON5'] as const)('%s', kind => {
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const { text, value } = someJson(seeded(seed * 7919), kind)
      expect(json.read(text), text).toEqual(value)
      if (kind === 'plain JSON' && text.trim()) expect(JSON.parse(text.replace(/^\ufeff/, '')), text).toEqual(value)
      keepsEveryByte(json, text, [SERVER, RULE])
    }
  })

  test('TOML', () => {
    for (let seed = 1; seed <= ROUNDS; seed++)
      keepsEveryByte(toml, someToml(seeded(seed * 7919)), [{ ...SERVER, path: ['mcp_servers', 'flotilla'] }])
  })
})

/** Adds the items, then removes them: once with the memory of what was added, and once without. */
function keepsEveryByte(format: Format, text: string, items: readonly Item[]): void {
  const file = join(root, 'file')
  writeFileSync(file, text)
  const told = reconciled(file, format, {}, { items })
  const after = told.after!
  const inserted = told.memory!.puts.flatMap(put => put.insertions)
  expect(takenOut(after, inserted), text).toBe(text)

  writeFileSync(file, after)
  const memories = { [told.file]: told.memory! }
  expect(reconciled(file, format, memories, { items }).after, text).toBe(after)
  expect(reconciled(file, format, memories, { items: [] }).after, text).toBe(text)

  const [entry, ...rules] = told.memory!.puts
  const without = [...rules.toReversed(), entry!].reduce(
    (sofar, put) => format.without(sofar, put.item, put.made),
    after,
  )
  expect(format.read(without), `${text}\n${after}\n${without}`).toEqual(format.read(text))
  expect(readFileSync(file, 'utf8')).toBe(after)
}

function someJson(random: Random, kind: 'plain JSON' | 'with comments' | 'JSON5'): Made {
  const eol = oneOf(random, ['\n', '\r\n'])
  const indent = oneOf(random, ['  ', '\t', '    ', ''])
  const comments = kind === 'plain JSON' ? [] : [' // it\'s "odd" {', '/* [ , */', `/*${eol} * x */`]
  const space = (): string => {
    const parts = Array.from({ length: random(3) }, () =>
      oneOf(random, ['', ' ', eol, eol + indent, eol + indent + indent, ...comments]),
    )
    return parts.map(part => (part.includes('//') ? part + eol : part)).join('')
  }
  const string = (text: string): string =>
    kind === 'JSON5' && random(2)
      ? `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
      : JSON.stringify(text)
  const key = (text: string): string => (kind === 'JSON5' && /^\w+$/.test(text) && random(2) ? text : string(text))
  const scalar = (): Made => {
    const value = oneOf(random, [null, true, false, 0, -1.5, 1e21, '', 'x', 'a "b" \\ \'c\'', '// no', 'é\u2028{', '}'])
    return { value, text: typeof value === 'string' ? string(value) : JSON.stringify(value) }
  }
  const container = (members: { name: string; text: string }[], [open, close]: string): string => {
    const parts = members.map(
      ({ name, text }) => `${space()}${name && `${key(name)}${space()}:${space()}`}${text}${space()}`,
    )
    const tail = kind !== 'plain JSON' && parts.length && random(3) === 0 ? `,${space()}` : ''
    return `${open}${parts.join(',')}${parts.length ? tail : space()}${close}`
  }
  const list = (items: Made[]): Made => ({
    value: items.map(item => item.value),
    text: container(
      items.map(item => ({ name: '', text: item.text })),
      '[]',
    ),
  })
  const table = (entries: [string, Made][]): Made => ({
    value: Object.fromEntries(entries.map(([name, { value }]) => [name, value])),
    text: container(
      entries.map(([name, { text }]) => ({ name, text })),
      '{}',
    ),
  })
  const anything = (depth: number): Made => {
    const some = () => Array.from({ length: random(4) }, () => anything(depth - 1))
    if (depth === 0 || random(2)) return scalar()
    return random(2) ? list(some()) : table(some().map((made, index) => [oneOf(random, NAMES) + index, made]))
  }
  const known: [string, Made][] = [
    ['mcpServers', table(Array.from({ length: random(3) }, (_, index) => [`s${index}`, anything(2)]))],
    ['permissions', table(random(2) ? [['allow', list([scalar(), scalar()].slice(random(3)))]] : [])],
  ]
  const others: [string, Made][] = Array.from({ length: random(4) }, (_, index) => [
    oneOf(random, NAMES) + index,
    anything(3),
  ])
  const entries = [...known.filter(() => random(2)), ...others].sort(() => random(3) - 1)
  const { value, text } = table(entries)
  const mark = random(8) === 0 ? '\ufeff' : ''
  return random(20) === 0 ? { value: {}, text: mark } : { value, text: `${mark}${space()}${text}${space()}` }
}

const NAMES = ['a', 'theme', 'a b', '__proto__', 'x.y', 'ключ', '"', '$ref']

function someToml(random: Random): string {
  const eol = oneOf(random, ['\n', '\r\n'])
  const lines = [
    '# mine [mcp_servers.flotilla]',
    'model = "gpt"   # odd   spacing',
    'text = """\n[mcp_servers.flotilla]\nno heading\n"""',
    "path = 'C:\\x'",
    'day = 1979-05-27T07:32:00Z',
    'big = 9007199254740993',
    'list = [\n  1,\n  # two\n  2,\n]',
  ].filter(() => random(2))
  const tables = [
    '[mcp_servers.a]\ncommand = "x"',
    '[mcp_servers."b c"]\nurl="http://x" # y',
    '[mcp_servers.flotilla-2.env]\nA = "1"',
    '[[rules]]\nx = 1\n\n[[rules]]\nx = 2',
    '  [ projects . "/a b" ]\n  trust_level = "trusted"',
    '[mcp_servers]',
  ].filter(() => random(2))
  const text = [...lines, ...tables.sort(() => random(3) - 1)].join(oneOf(random, ['\n', '\n\n', '\n\n\n']))
  const end = oneOf(random, ['', '\n', '\n\n', '  ', '\n# end'])
  return (random(8) === 0 ? '\ufeff' : '') + (text + end).replaceAll('\n', eol)
}

test.each([
  '',
  '{',
  '{"a"}',
  '{"a":}',
  '{"a" 1}',
  '[1 2]',
  '{"a":1}}',
  '"\n"',
  '/* x',
  '{,}',
  '{"a":tru}',
  '{"a":--1}',
  '{a-b:1}',
])('what is no configuration is not taken for one: %s', text => {
  if (text === '') expect(spansOf(text)).toBeUndefined()
  else expect(() => spansOf(text)).toThrow(/^line \d/)
})
