import { closeSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { NotAllowed } from '../../domain/errors.ts'
import type { Note } from '../../domain/rules/prompt.ts'
import { clipped } from '../../domain/text.ts'
import { appendPlain, openPlain, readPlain } from '../../platform/plain-files.ts'
import { type Ask, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { inWords } from '../questions/questions.ts'
import { all } from '../records.ts'
import { artifactsOf } from './artifacts.ts'

export const NOTES = { plan: 'PLAN.md', knowledge: 'KNOWLEDGE.md' } as const
export type NoteKind = keyof typeof NOTES
const QUESTIONS = 'questions.md'

export const NOTE_BYTES = 4 * 1024 * 1024
/** A prompt has at most this much of each file: its end, which is the newest. */
const SHOWN_CHARS = 8000
const MOST_NOTES = 8
const MOST_LISTED = 50

export const noteFile = (fleet: Fleet, missionId: string, kind: NoteKind): string =>
  join(fleet.home.task(missionId), NOTES[kind])
export const questionFile = (fleet: Fleet, missionId: string): string => join(fleet.home.task(missionId), QUESTIONS)

/**
 * Adds to the notes of a mission, which every later session gets. The receipt of a key has the length of the file
 * before the note: a repeated request looks for the note after that, whether or not the first one wrote it.
 */
export async function addNote(
  fleet: Fleet,
  missionId: string,
  kind: NoteKind,
  text: string,
  ask: Ask,
): Promise<string> {
  mkdirSync(fleet.home.task(missionId), { recursive: true, mode: 0o700 })
  const file = noteFile(fleet, missionId, kind)
  const entry = `${text.trimEnd()}\n\n`
  const before = await oncePerKey(fleet, ask, async () => ({ subject: `${sizeOf(file)}`, changes: [], events: [] }))
  // No `await` from here on, so that of two that send the same note at once, one finds the other's.
  const noted = readPlain(file, NOTE_BYTES) ?? ''
  if (ask.key ? isIn(noted, entry, Number(before)) : isLast(noted, entry)) return file
  if (sizeOf(file) + Buffer.byteLength(entry) > NOTE_BYTES)
    throw new NotAllowed(`${file} is full: with more than ${NOTE_BYTES} bytes it would not be read.`, {
      try: 'Shorten it.',
    })
  appendPlain(file, entry)
  const fd = openPlain(file)
  if (fd === undefined) throw new NotAllowed(`${file} is not a file.`, { try: 'Move away what is in its place.' })
  closeSync(fd)
  return file
}

const sizeOf = (file: string): number => lstatSync(file, { throwIfNoEntry: false })?.size ?? 0

/** Whether the file has this note after so many bytes. If the agent has shortened the file, all of it counts. */
function isIn(noted: string, entry: string, from: number): boolean {
  const bytes = Buffer.from(noted)
  const rest = from <= bytes.length ? bytes.subarray(from).toString('utf8') : noted
  return rest.startsWith(entry) || rest.includes(`\n\n${entry}`)
}

/** A client that repeats a call has no key, and nobody writes the same note twice in a row. */
const isLast = (noted: string, entry: string): boolean => noted === entry || noted.endsWith(`\n\n${entry}`)

/** The notes of a mission. A file that is too long counts as empty. */
export function notesOf(fleet: Fleet, missionId: string): Record<NoteKind, string> {
  const read = (kind: NoteKind): string => readPlain(noteFile(fleet, missionId, kind), NOTE_BYTES) ?? ''
  return { plan: read('plan'), knowledge: read('knowledge') }
}

export const endOfNote = (text: string): string => (text.length > SHOWN_CHARS ? `…${text.slice(-SHOWN_CHARS)}` : text)

/**
 * Everything that earlier sessions left for one that does not remember them, whichever client they used: their notes,
 * the answers of people, and the names of the files they put aside.
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
  // Our own file names come first.
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
