import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { MARK, type TextDocument, type TextKind, Texts } from './texts.ts'

function aFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-texts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'search.db')
}

function open(file: string, mostBytes?: number): Texts {
  const texts = new Texts(file, mostBytes)
  onTestFinished(() => texts.close())
  return texts
}

const aText = (body: string, more: Partial<TextDocument> = {}): TextDocument => ({
  ...{ kind: 'mission', project_id: 'p1', mission_id: 'm1', session_id: null, place: 'm1', part: 'prompt' },
  ...{ at: '2026-11-10T00:00:00.000Z', title: '', body },
  ...more,
})
const sourceOf = (id: string, ...documents: TextDocument[]) => ({ source: id, fingerprint: id, documents })
const placesOf = (texts: Texts, text: string, kind: TextKind = 'mission') =>
  texts.search({ text, kind, limit: 50 }).map(({ place }) => place)

test('words are found in any case, as beginnings, in order of where they are, and marked', () => {
  const texts = open(aFile())
  const sources = [
    sourceOf('missions/a', aText('Fix the login of the shop. It is Café-proof.', { place: 'a' })),
    sourceOf('missions/b', aText('Something else', { place: 'b', title: 'Logins are slow' })),
  ]
  texts.change({ sources, gone: [] })
  expect(placesOf(texts, 'LOGIN')).toEqual(['b', 'a'])
  expect(placesOf(texts, 'login shop')).toEqual(['a'])
  expect(placesOf(texts, 'cafe')).toEqual(['a'])
  expect(placesOf(texts, '"the shop"')).toEqual(['a'])
  expect(placesOf(texts, '"shop the"')).toEqual([])
  const [best] = texts.search({ text: 'login', kind: 'mission', limit: 1 })
  expect(best).toMatchObject({ inTitle: true, snippet: expect.stringContaining(`${MARK}Logins`) })
})

test('a search stays within its kind, project and time', () => {
  const texts = open(aFile())
  const documents = [
    aText('boat', { place: 'here' }),
    aText('boat', { place: 'report', kind: 'report' }),
    aText('boat', { place: 'elsewhere', project_id: 'p2' }),
    aText('boat', { place: 'old', at: '2026-01-01T00:00:00.000Z' }),
  ]
  texts.change({ sources: [sourceOf('missions/a', ...documents)], gone: [] })
  const search = (more: object) =>
    texts
      .search({ text: 'boat', kind: 'mission', limit: 9, ...more })
      .map(({ place }) => place)
      .sort()
  expect(search({ project_id: 'p1' })).toEqual(['here', 'old'])
  expect(search({ from: '2026-11-01T00:00:00.000Z' })).toEqual(['elsewhere', 'here'])
  expect(search({ before: '2026-11-01T00:00:00.000Z' })).toEqual(['old'])
  // The names of kinds and projects are no words of a text.
  expect(search({ text: 'kindmission' })).toEqual([])
  expect(search({ text: 'projectp1' })).toEqual([])
})

test('whatever a person types is only words: nothing throws, and nothing of another project is found', () => {
  const texts = open(aFile())
  const sources = [
    sourceOf('missions/a', aText('alpha beta NEAR gamma', { project_id: 'p1', place: 'mine' })),
    sourceOf('missions/b', aText('alpha beta secret', { project_id: 'p2', place: 'theirs' })),
  ]
  texts.change({ sources, gone: [] })
  const PIECES = [
    ...[
      '"',
      '""',
      '*',
      '(',
      ')',
      ':',
      '^',
      '+',
      '-',
      '{',
      '}',
      ',',
      ';',
      '--',
      "'",
      '\\',
      '\0',
      '\n',
      '\t',
      '\u0001',
      '\u0002',
    ],
    ...[' AND ', ' OR ', ' NOT ', ' NEAR(', ', 5)', 'title:', 'body:', 'scope:', '{scope} : ', 'texts MATCH', 'rowid'],
    ...[
      'alpha',
      'secret',
      'projectp2',
      'kindmission',
      'DROP TABLE texts',
      'é',
      '日本',
      '👩‍🚀',
      '\ud800',
      '\u202e',
      'a'.repeat(300),
    ],
  ]
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  for (let round = 0; round < 5000; round++) {
    const text = Array.from({ length: 1 + random(8) }, () => PIECES[random(PIECES.length)]).join('')
    const found = texts.search({ text, kind: 'mission', project_id: 'p1', limit: 5 })
    expect(
      found.filter(({ project_id }) => project_id !== 'p1'),
      text,
    ).toEqual([])
  }
  expect(placesOf(texts, 'alpha').sort()).toEqual(['mine', 'theirs'])
})

test('what is gone is found no more, and is not in the file either', () => {
  const file = aFile()
  const texts = open(file)
  const session = aText('a password hunter2', { kind: 'transcript', session_id: 's1' })
  texts.change({ sources: [sourceOf('sessions/s1', session), sourceOf('missions/m1', aText('text'))], gone: [] })
  expect(placesOf(texts, 'hunter2', 'transcript')).toEqual(['m1'])
  texts.change({ sources: [], gone: [{ mission_id: 'm1' }] })
  expect(placesOf(texts, 'hunter2', 'transcript')).toEqual([])
  expect(texts.fingerprintOf('sessions/s1')).toBeUndefined()
  texts.close()
  expect(readFileSync(file).includes('hunter2')).toBe(false)
})

test('a record that is read and gone in one change is gone', () => {
  const texts = open(aFile())
  texts.change({ sources: [sourceOf('missions/m1', aText('hunter2'))], gone: [{ mission_id: 'm1' }] })
  expect(placesOf(texts, 'hunter2')).toEqual([])
})

test('beyond its size the oldest transcripts are left out, and missions stay', () => {
  const texts = open(aFile(), 400_000)
  for (let n = 0; n < 40; n++) {
    const words = Array.from({ length: 3000 }, (_, at) => `word${n}x${at}`).join(' ')
    const at = new Date(Date.UTC(2026, 0, 1 + n)).toISOString()
    texts.change({
      sources: [
        sourceOf(`missions/m${n}`, aText(`common m${n}`, { mission_id: `m${n}`, place: `m${n}` })),
        sourceOf(`sessions/s${n}`, aText(`common ${words}`, { kind: 'transcript', place: `s${n}`, at })),
      ],
      gone: [],
    })
  }
  const kept = placesOf(texts, 'common', 'transcript')
  expect(kept).toContain('s39')
  expect(kept).not.toContain('s0')
  expect(placesOf(texts, 'common')).toHaveLength(40)
  expect(texts.fingerprintOf('sessions/s0')).toBe('sessions/s0')
})

test.each([
  ['no index at all', () => {}],
  ['something else', (file: string) => writeFileSync(file, 'this is not an index'.repeat(500))],
  ['a half', (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2))],
  ['a page of nonsense', (file: string) => writeFileSync(file, readFileSync(file).fill(7, 4096, 12_288))],
])('a file that is %s is made again', (_, damage) => {
  const file = aFile()
  const first = new Texts(file)
  const documents = Array.from({ length: 300 }, (_, n) => aText(`boat number ${n} ${'x'.repeat(200)}`))
  first.change({
    sources: [sourceOf('missions/a', ...documents)],
    gone: [],
    progress: { cursor: '5', complete: false },
  })
  first.close()
  damage(file)
  const texts = open(file)
  const write = () => texts.change({ sources: [sourceOf('missions/b', aText('ship', { place: 'b' }))], gone: [] })
  write()
  expect(placesOf(texts, 'ship')).toEqual(['b'])
})

test.each([
  ['written', (texts: Texts) => texts.change({ sources: [], gone: [{ mission_id: 'm1' }] })],
  ['searched', (texts: Texts) => expect(() => placesOf(texts, 'boat')).toThrow('The search index is damaged')],
])('an index that is found damaged when it is %s is empty from then on, and never complete', (_, use) => {
  const file = aFile()
  const texts = open(file)
  const documents = Array.from({ length: 300 }, (_, n) => aText(`boat number ${n} ${'x'.repeat(200)}`))
  texts.change({
    sources: [sourceOf('missions/a', ...documents)],
    gone: [],
    progress: { cursor: '5', complete: false },
  })
  texts.close()
  const db = new Database(file, { readonly: true })
  const page = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'texts_data'").pluck().get() as number
  db.close()
  writeFileSync(file, readFileSync(file).fill(7, (page - 1) * 4096, page * 4096))
  expect(texts.progress()).toEqual({ cursor: '5', complete: false })
  use(texts)
  texts.change({ sources: [], gone: [], progress: { cursor: '6', complete: true } })
  expect(texts.progress()).toBeUndefined()
})

test('a file that cannot be opened is said in words', () => {
  const file = aFile()
  mkdirSync(file)
  const texts = open(file)
  expect(() => texts.change({ sources: [], gone: [] })).toThrow('The search index cannot be used')
  expect(() => placesOf(texts, 'ship')).toThrow('The search index cannot be used')
  expect(() => placesOf(open(aFile()), 'ship')).toThrow('There is no search index yet')
})

test('a process that is killed while it writes leaves a sound index, and only whole changes', async () => {
  const file = aFile()
  const child = spawn(process.execPath, [join(import.meta.dirname, 'texts-writer.testkit.ts'), file], {
    stdio: 'ignore',
  })
  await vi.waitFor(() => expect(existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 200_000).toBe(true), 20_000)
  const over = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGKILL')
  await over
  const texts = open(file)
  const { cursor } = texts.progress()!
  expect(Number(cursor)).toBeGreaterThan(0)
  expect(placesOf(texts, `both${cursor}`).sort()).toEqual([`${cursor}-1`, `${cursor}-2`])
  expect(placesOf(texts, `both${Number(cursor) + 1}`)).toEqual([])
}, 30_000)
