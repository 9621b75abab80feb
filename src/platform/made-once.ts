import { closeSync, fsyncSync, linkSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { Unfit } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { textOf } from './whole-files.ts'

/** Reads a small file and creates it if it is missing. If several processes start at once, one wins and all agree. */
export function madeOnce(file: string, { make, form }: { make: () => string; form: RegExp }): string {
  const existing = textOf(file)
  if (existing !== undefined) return sound(file, existing, form)
  const mine = `${file}.${process.pid}.${newId()}`
  const fd = openSync(mine, 'wx', 0o600)
  writeSync(fd, make())
  fsyncSync(fd)
  closeSync(fd)
  try {
    linkSync(mine, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(mine)
  }
  return sound(file, textOf(file) ?? '', form)
}

/** A damaged file is never replaced automatically: everything made with the old value would stop working. */
function sound(file: string, text: string, form: RegExp): string {
  if (form.test(text.trim())) return text.trim()
  throw new Unfit(`${file} is damaged: its content is not what was written.`, {
    try: `Restore it from a backup, or remove it: a new one is made, and everyone who used the old one signs in again.`,
  })
}
