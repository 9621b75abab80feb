import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { readPlainFile } from '../plain-files.ts'

/** A folder that is one: whatever else has its name goes. */
export function requireFolder(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found) rmSync(path, { force: true })
  mkdirSync(path, { recursive: true })
}

/** In one stroke, whatever was there: no link is followed, neither in its place nor under the name it is written with. */
export function replaceFile(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) rmSync(path, { recursive: true, force: true })
  rmSync(`${path}.new`, { recursive: true, force: true })
  writeFileSync(`${path}.new`, content, { flag: 'wx' })
  renameSync(`${path}.new`, path)
}

/**
 * A copy of an index is as old as the index: git compares the times of files with that of the index they are in, and
 * would take a file that changed in the same moment for unchanged.
 */
export function copyIndex(from: string, to: string): void {
  const found = statSync(from, { throwIfNoEntry: false })
  rmSync(to, { recursive: true, force: true })
  if (!found) return
  rmSync(`${to}.new`, { recursive: true, force: true })
  copyFileSync(from, `${to}.new`, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
  const time = (found.mtimeMs - 1) / 1000
  utimesSync(`${to}.new`, time, time)
  renameSync(`${to}.new`, to)
}

/** The other part of an index that is split, by the name it has there: git looks for it in the git directory. */
export function copySharedIndex(index: Buffer | undefined, from: string, to: string, maxBytes?: number): boolean {
  const name = readdirSync(from).find(name => {
    const [, id] = /^sharedindex\.([0-9a-f]+)$/.exec(name) ?? []
    return id && index?.includes(Buffer.from(id, 'hex'))
  })
  const content = name && readPlainFile(join(from, name), { refuseLinks: true, maxBytes })
  if (content) writeFileSync(join(to, name), content)
  return name !== undefined
}
