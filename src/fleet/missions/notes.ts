import { closeSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { NotAllowed } from '../../domain/errors.ts'
import type { Note } from '../../domain/rules/prompt.ts'
import { clipped } from '../../domain/text.ts'
import { appendPlain, openPlain, readPlain } from '../../platform/launch-folder.ts'
import type { Fleet } from '../fleet.ts'
import { inWords } from '../questions/questions.ts'
import { all } from '../records.ts'
import { artifactsOf } from './artifacts.ts'

export const NOTES = { plan: 'PLAN.md', knowledge: 'KNOWLEDGE.md' } as const
export type NoteKind = keyof typeof NOTES
const QUESTIONS = 'questions.md'

export const NOTE_BYTES = 4 * 1024 * 1024
/** What of each file a prompt carries: the newest, which is at the end. */
const SHOWN_CHARS = 8000
const MOST_NOTES = 8
const MOST_LISTED = 50

export const noteFile = (fleet: Fleet, missionId: string, kind: NoteKind): string =>
  join(fleet.home.task(missionId), NOTES[kind])
export const questionFile = (fleet: Fleet, missionId: string): string => join(fleet.home.task(missionId), QUESTIONS)

/** Adds to the notes of a mission, which every later session of it is given. */
export function addNote(fleet: Fleet, missionId: string, kind: NoteKind, text: string): string {
  mkdirSync(fleet.home.task(missionId), { recursive: true, mode: 0o700 })
  const file = noteFile(fleet, missionId, kind)
  const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size + Buffer.byteLength(text) + 2 > NOTE_BYTES)
    throw new NotAllowed(`${file} is full: what is longer than ${NOTE_BYTES} bytes is read by nobody.`, {
      try: 'Shorten it.',
    })
  appendPlain(file, `${text.trimEnd()}\n\n`)
  const fd = openPlain(file)
  if (fd === undefined) throw new NotAllowed(`${file} is not a file.`, { try: 'Move away what is in its place.' })
  closeSync(fd)
  return file
}

/** What is noted of a mission; of a file that is too long, nothing. */
export function notesOf(fleet: Fleet, missionId: string): Record<NoteKind, string> {
  const read = (kind: NoteKind): string => readPlain(noteFile(fleet, missionId, kind), NOTE_BYTES) ?? ''
  return { plan: read('plan'), knowledge: read('knowledge') }
}

export const endOfNote = (text: string): string => (text.length > SHOWN_CHARS ? `…${text.slice(-SHOWN_CHARS)}` : text)

/**
 * All that earlier sessions left for one that does not remember them, whichever client it is: what they wrote down,
 * what people answered them, and which files they put aside.
 */
export async function notesFor(fleet: Fleet, missionId: string): Promise<Note[]> {
  const folder = fleet.home.task(missionId)
  const written = markdownIn(folder).flatMap(name => {
    const text = readPlain(join(folder, name), NOTE_BYTES)
    return text ? [{ title: name.slice(0, -'.md'.length).toLowerCase(), file: join(folder, name), text }] : []
  })
  const artifacts = artifactsOf(fleet, missionId)
  const listed = artifacts.files.slice(0, MOST_LISTED).map(({ path, bytes }) => `- ${path} (${bytes} bytes)`)
  const more = artifacts.files.length > MOST_LISTED || artifacts.more ? ['- and more'] : []
  return [
    ...written,
    { title: 'questions', file: questionFile(fleet, missionId), text: await answersTo(fleet, missionId) },
    { title: 'artifacts', file: artifacts.folder, text: [...listed, ...more].join('\n') },
  ].map(note => ({ ...note, text: endOfNote(note.text) }))
}

function markdownIn(folder: string): string[] {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  const names = readdirSync(folder).filter(name => name.endsWith('.md') && name !== QUESTIONS)
  // What is called as we call it comes first, whatever else is there.
  const rank = (name: string): number => [...Object.values<string>(NOTES), name].indexOf(name)
  return names.toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b)).slice(0, MOST_NOTES)
}

async function answersTo(fleet: Fleet, missionId: string): Promise<string> {
  const questions = await Array.fromAsync(all(fleet, 'questions', 'mission', [missionId]))
  return questions
    .filter(({ value: { kind, status } }) => kind === 'question' && status === 'answered')
    .map(({ value }) => clipped(inWords(value), SHOWN_CHARS))
    .join('\n\n')
}
