import { expect, test } from 'vitest'
import { inOrder, missionOf, parseBeads } from './beads.ts'

const line = (id: string, more: object = {}) => JSON.stringify({ id, title: `Bead ${id}`, ...more })
const read = (...lines: string[]) => parseBeads(lines.join('\n')).map(({ bead }) => bead)
const on = (...ids: string[]) => ({ dependencies: ids.map(depends_on_id => ({ depends_on_id, type: 'blocks' })) })

test('a bead says what its mission is', () => {
  const [bead] = read(
    line('bd-1', {
      description: 'All of it.',
      design: 'So.',
      notes: '',
      priority: 0,
      issue_type: 'bug',
      labels: ['ui'],
      future: 1,
    }),
  )
  expect(missionOf(bead!)).toMatchObject({
    title: 'Bead bd-1',
    detailed_prompt: 'All of it.\n\n## Design\n\nSo.',
    mission_type: 'fix',
    priority: 200,
    tags: ['ui'],
    metadata: { bead: 'bd-1' },
  })
  const [plain] = read(line('bd-2', { labels: null, dependencies: null, comments: null }))
  expect(missionOf(plain!)).toMatchObject({ detailed_prompt: 'Bead bd-2', priority: 0, mission_type: 'implement' })
})

test('dependencies come first, and a circle is refused with its names', () => {
  expect(inOrder(read(line('a', on('b')), line('b', on('c', 'elsewhere')), line('c'))).map(({ id }) => id)).toEqual([
    'c',
    'b',
    'a',
  ])
  expect(() => inOrder(read(line('a', on('b')), line('b', on('a'))))).toThrow('a → b → a')
  const long = Array.from({ length: 20_000 }, (_, n) => line(`${n}`, on(`${n + 1}`)))
  expect(inOrder(read(...long)).at(-1)!.id).toBe('0')
})

test('an invalid line is reported with its number', () => {
  expect(() => read(line('a'), '', '{"id":')).toThrow('line 3: is not JSON')
  expect(() => read(line('a'), '{"id":"b"}')).toThrow('line 2: title')
  expect(() => read(line('a', { title: ' \n' }))).toThrow('line 1: title')
})
