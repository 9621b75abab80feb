import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aBench } from '../workshop.testkit.ts'
import { artifactFolder, artifactsOf, readArtifact } from './artifacts.ts'
import { addNote, NOTE_BYTES, noteFile, notesFor, notesOf } from './notes.ts'

const ask = (key?: string) => ({ operation: 'note', actor: 'session:s1', key })
const whole = { offset: 0, limit: 1000 }

test('a note is written once per key, whoever wrote in between', async () => {
  const { fleet } = aBench()
  const note = (text: string, key?: string) => addNote(fleet, 'm1', 'knowledge', text, ask(key))
  await note('one', 'k1')
  await note('two', 'k2')
  await note('one', 'k1')
  expect(notesOf(fleet, 'm1')).toEqual({ plan: '', knowledge: 'one\n\ntwo\n\n' })
  await note('one', 'k3')
  expect(notesOf(fleet, 'm1').knowledge).toBe('one\n\ntwo\n\none\n\n')
})

test('two who send the same note at once, without a key, leave it once', async () => {
  const { fleet } = aBench()
  const note = () => addNote(fleet, 'm1', 'plan', 'the plan', ask())
  await Promise.all([note(), note(), note()])
  expect(notesOf(fleet, 'm1').plan).toBe('the plan\n\n')
})

test('a file that is full, or that is no file, is refused and stays as it is', async () => {
  const { fleet } = aBench()
  mkdirSync(fleet.home.task('m1'), { recursive: true })
  writeFileSync(noteFile(fleet, 'm1', 'plan'), 'x'.repeat(NOTE_BYTES))
  await expect(addNote(fleet, 'm1', 'plan', 'more', ask())).rejects.toThrow('is full')
  expect(notesOf(fleet, 'm1').plan).toHaveLength(NOTE_BYTES)
  const outside = join(fleet.home.path, 'outside')
  writeFileSync(outside, 'of a person\n')
  symlinkSync(outside, noteFile(fleet, 'm1', 'knowledge'))
  await expect(addNote(fleet, 'm1', 'knowledge', 'more', ask())).rejects.toThrow()
  expect(notesOf(fleet, 'm1').knowledge).toBe('')
})

test('a later session is given the end of what was noted, and the names of what was put aside', async () => {
  const { fleet } = aBench()
  await addNote(fleet, 'm1', 'plan', `${'a'.repeat(9000)}the end`, ask())
  mkdirSync(artifactFolder(fleet, 'm1'), { recursive: true })
  writeFileSync(join(artifactFolder(fleet, 'm1'), 'picture.png'), 'abc')
  const notes = await notesFor(fleet, 'm1')
  const [plan] = notes
  expect(plan?.title).toBe('plan')
  expect(plan?.text).toMatch(/^…a+the end\n\n$/)
  expect(notes.at(-1)).toMatchObject({ title: 'artifacts', text: '- picture.png (3 bytes)' })
})

test('an artifact is a plain file below its folder, and nothing that a link leads to', () => {
  const { fleet } = aBench()
  const folder = artifactFolder(fleet, 'm1')
  mkdirSync(join(folder, 'deep'), { recursive: true })
  writeFileSync(join(folder, 'deep', 'file.txt'), 'hello')
  writeFileSync(join(fleet.home.path, 'secret'), 'secret')
  symlinkSync(join(fleet.home.path, 'secret'), join(folder, 'link'))
  symlinkSync(fleet.home.path, join(folder, 'folder'))
  expect(artifactsOf(fleet, 'm1').files).toEqual([{ path: 'deep/file.txt', bytes: 5 }])
  const read = (path: string, piece = whole) => readArtifact(fleet, 'm1', path, piece).content.toString()
  expect(read('deep/file.txt')).toBe('hello')
  expect(read('deep/file.txt', { offset: 3, limit: 1 })).toBe('l')
  expect(read('deep/file.txt', { offset: 9, limit: 9 })).toBe('')
  for (const path of ['link', 'folder/secret', 'missing', 'deep']) expect(() => read(path), path).toThrow('There is no')
  for (const path of ['../x', '/etc/passwd', './deep', 'a\0b'])
    expect(() => read(path), path).toThrow('must be a path below the artifacts folder')
})

test('a mission that left nothing has an empty list', () => {
  expect(artifactsOf(aBench().fleet, 'm1')).toMatchObject({ files: [], more: false })
})
