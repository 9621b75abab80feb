import { constants, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { copyFile, open, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { NotAllowed, NotFound } from '../domain/errors.ts'
import { VERSION } from '../platform/version.ts'
import { behindLinks } from '../platform/whole-files.ts'
import { copySqlite } from '../store/sqlite/copy.ts'
import { contentsOf, LEFT_OUT } from './contents.ts'
import { takeInLive } from './live-places.ts'
import { fingerprint, MANIFEST, type Manifest } from './manifest.ts'
import { tar } from './tar.ts'
import { MOST_ENTRIES } from './unpack.ts'

/**
 * A copy of a home as one file, whoever works in it meanwhile. The store comes first: a text is on disk before a record
 * names it, and transcripts only grow, so whatever the copy of the store speaks of is there when the files are copied.
 */
export async function backUp(home: string, file: string, withTokens: boolean): Promise<Manifest> {
  if (!existsSync(join(home, 'store.db'))) throw new NotFound('home with a store at', home, { try: 'fleet status' })
  refuseToReplace(file)
  refuseWithin(home, file)
  // Beside the file: whoever chose that place has room there, and the last step is a rename.
  mkdirSync(dirname(file), { recursive: true })
  const work = mkdtempSync(`${file}.being-made-`)
  try {
    const stage = join(work, 'home')
    mkdirSync(stage)
    await takeInLive(home)
    await copySqlite(join(home, 'store.db'), join(stage, 'store.db'))
    const { files, leftOut } = contentsOf(home, withTokens)
    requireRestorable(files.length)
    const manifest: Manifest = {
      format: 1,
      version: VERSION,
      made_at: new Date().toISOString(),
      host: hostname(),
      home,
      tokens: withTokens,
      left_out: leftOut.map(each => LEFT_OUT[each]),
      files: { 'store.db': await fingerprint(join(stage, 'store.db')) },
    }
    for (const path of files) {
      const copy = await copied(join(home, path), join(stage, path))
      if (copy) manifest.files[path] = copy
    }
    await writeFile(join(stage, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`)
    const archive = join(work, 'archive')
    await tar(['-czf', archive, '-C', stage, '.'])
    await seal(archive)
    refuseToReplace(file)
    renameSync(archive, file)
    return manifest
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** For its owner only, and on the disk before it has its name. */
async function seal(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.chmod(0o600)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function requireRestorable(files: number): void {
  // Folders count too, and the manifest and the store.
  if (files < MOST_ENTRIES / 2) return
  throw new NotAllowed(`The home has ${files} files, more than a backup is restored with.`, {
    try: 'Delete missions that are over: fleet mission delete <id>',
  })
}

function refuseToReplace(file: string): void {
  if (existsSync(file)) throw new NotAllowed(`There already is a ${file}.`, { try: 'Choose another name.' })
}

/** It would have a part of itself in it, and be in every later one. */
function refuseWithin(home: string, file: string): void {
  if (`${behindLinks(nearest(file))}${sep}`.startsWith(`${behindLinks(home)}${sep}`))
    throw new NotAllowed(`${file} is in the home itself.`, { try: 'Choose a place outside of it.' })
}

/** The folder it is in, or the first above that is there. */
function nearest(path: string): string {
  const folder = dirname(path)
  return existsSync(folder) ? folder : nearest(folder)
}

/** Undefined: it went away in between, with the mission it belonged to. */
async function copied(from: string, to: string): Promise<Manifest['files'][string] | undefined> {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return fingerprint(to)
}
