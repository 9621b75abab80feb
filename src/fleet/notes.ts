import { closeSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { NotAllowed } from '../domain/errors.ts'
import { appendPlain, openPlain, readPlain } from '../runner/folders.ts'
import type { Fleet } from './fleet.ts'

export const NOTES = { plan: 'PLAN.md', knowledge: 'KNOWLEDGE.md' } as const
export type NoteKind = keyof typeof NOTES

const FILE_BYTES = 4 * 1024 * 1024
/** What of each file a prompt carries: the newest, which is at the end. */
const SHOWN_CHARS = 6000

export const noteFile = (fleet: Fleet, missionId: string, kind: NoteKind): string =>
  join(fleet.home.task(missionId), NOTES[kind])

/** Adds to the notes of a mission, which every later session of it is given. */
export function addNote(fleet: Fleet, missionId: string, kind: NoteKind, text: string): string {
  mkdirSync(fleet.home.task(missionId), { recursive: true, mode: 0o700 })
  const file = noteFile(fleet, missionId, kind)
  const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size + Buffer.byteLength(text) + 2 > FILE_BYTES)
    throw new NotAllowed(`${file} is full: what is longer than ${FILE_BYTES} bytes is read by nobody.`, {
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
  const read = (kind: NoteKind): string => readPlain(noteFile(fleet, missionId, kind), FILE_BYTES) ?? ''
  return { plan: read('plan'), knowledge: read('knowledge') }
}

const MOST_ARTIFACTS = 1000

/** What the agents of a mission left in its folder for whoever wants it. */
export function artifactsOf(fleet: Fleet, missionId: string): { folder: string; files: Artifact[] } {
  const folder = join(fleet.home.task(missionId), 'artifacts')
  if (!existsSync(folder)) return { folder, files: [] }
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const files = found.slice(0, MOST_ARTIFACTS).map(entry => {
    const path = join(entry.parentPath, entry.name)
    return { path: relative(folder, path), bytes: lstatSync(path, { throwIfNoEntry: false })?.size ?? 0 }
  })
  return { folder, files: files.toSorted((a, b) => a.path.localeCompare(b.path)) }
}

export interface Artifact {
  path: string
  bytes: number
}

export const endOfNote = (text: string): string => (text.length > SHOWN_CHARS ? `…${text.slice(-SHOWN_CHARS)}` : text)
