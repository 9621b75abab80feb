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

/** Removes whatever is there. Mostly nothing is, and to ask is cheaper than Node's own way of finding out. */
export function remove(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) rmSync(path, { recursive: true, force: true })
}

/** Makes sure that this is a folder. Anything else of that name is removed. */
export function requireFolder(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found) rmSync(path, { force: true })
  mkdirSync(path, { recursive: true })
}

/** Replaces a file in one step. No link is followed, neither at its path nor at the temporary one. */
export function replaceFile(path: string, content: string | Buffer): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) mkdirSync(dirname(path), { recursive: true })
  if (found?.isDirectory()) rmSync(path, { recursive: true, force: true })
  remove(`${path}.new`)
  writeFileSync(`${path}.new`, content, { flag: 'wx' })
  renameSync(`${path}.new`, path)
}

/**
 * Gives the copy of an index the same time: git compares the times of files with their index, and would take a file
 * that changed in the same moment for unchanged.
 */
export function copyIndex(from: string, to: string): void {
  const found = statSync(from, { throwIfNoEntry: false })
  remove(to)
  if (!found) return
  remove(`${to}.new`)
  copyFileSync(from, `${to}.new`, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
  const time = (found.mtimeMs - 1) / 1000
  utimesSync(`${to}.new`, time, time)
  renameSync(`${to}.new`, to)
}

/** Copies the shared part of a split index, which git looks for by name in the git directory. */
export function copySharedIndex(index: Buffer | undefined, from: string, to: string, maxBytes?: number): boolean {
  const name = readdirSync(from).find(name => {
    const [, id] = /^sharedindex\.([0-9a-f]+)$/.exec(name) ?? []
    return id && index?.includes(Buffer.from(id, 'hex'))
  })
  const content = name && readPlainFile(join(from, name), { refuseLinks: true, maxBytes })
  if (content) writeFileSync(join(to, name), content)
  return name !== undefined
}
