import { constants, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { copyFile, open, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { NotAllowed, NotFound } from '../domain/errors.ts'
import { VERSION } from '../platform/version.ts'
import { behindLinks } from '../platform/whole-files.ts'
import { copySqlite, fillSqlite, type StoreSettings } from '../store/index.ts'
import { contentsOf, LEFT_OUT, MANIFEST } from './contents.ts'
import { takeInLive } from './live-places.ts'
import { fingerprint, type Manifest } from './manifest.ts'
import { tar } from './tar.ts'
import { MOST_ENTRIES } from './unpack.ts'

/**
 * Copies a home into one file while others work in it. The store comes first: a text is on disk before a record names
 * it, and transcripts only grow, so everything the copy of the store refers to is there when the files are copied.
 */
export async function backUp(home: string, store: StoreSettings, file: string, withTokens: boolean): Promise<Manifest> {
  if (store.engine === 'sqlite' && !existsSync(store.file))
    throw new NotFound('home with a store at', home, { try: 'fleet status' })
  refuseToReplace(file)
  refuseWithin(home, file)
  // Beside the target file: there is room in that place, and the last step is a rename.
  mkdirSync(dirname(file), { recursive: true })
  const work = mkdtempSync(`${file}.being-made-`)
  try {
    const stage = join(work, 'home')
    mkdirSync(stage)
    await takeInLive(home)
    await copyOf(store, join(stage, 'store.db'))
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

/** Always a SQLite file, whichever engine has the records: a backup needs no other program to be restored. */
async function copyOf(store: StoreSettings, to: string): Promise<void> {
  if (store.engine === 'sqlite') return copySqlite(store.file, to)
  if (store.engine === 'memory') throw new NotAllowed('A store in memory cannot be backed up.')
  const { withContentsOfPostgres } = await import('../store/postgres/index.ts')
  await withContentsOfPostgres(store, contents => fillSqlite(to, contents))
}

/** Readable by its owner only, and on disk before it gets its name. */
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
  // Folders, the manifest and the store count too.
  if (files < MOST_ENTRIES / 2) return
  throw new NotAllowed(`The home has ${files} files, more than a restore accepts.`, {
    try: 'Delete missions that are over: fleet mission delete <id>',
  })
}

function refuseToReplace(file: string): void {
  if (existsSync(file)) throw new NotAllowed(`${file} already exists.`, { try: 'Choose another name.' })
}

/** A backup in the home would contain a part of itself, and be in every later one. */
function refuseWithin(home: string, file: string): void {
  if (`${behindLinks(nearest(file))}${sep}`.startsWith(`${behindLinks(home)}${sep}`))
    throw new NotAllowed(`${file} is in the home itself.`, { try: 'Choose a place outside of it.' })
}

/** Its folder, or the nearest one above that exists. */
function nearest(path: string): string {
  const folder = dirname(path)
  return existsSync(folder) ? folder : nearest(folder)
}

/** Undefined if the file was deleted in between, with its mission. */
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
