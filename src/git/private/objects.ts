import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { effect } from '../../platform/effects.ts'
import { readPlainFile } from '../plain-files.ts'
import { GitFailed, git } from '../run.ts'
import { alternatesOf, ourEnvironment, type Place, projectOf } from './place.ts'
import { settingsOf } from './settings.ts'

/**
 * Fewer objects than this go in as single files: a pack for each mission would slow down every git command of the
 * person.
 */
const FEW_OBJECTS = 100
const MOST_FILES = 500_000
export const MOST_BYTES = 2 * 1024 * 1024 * 1024
const TRIES = 3

/** Why objects of a session were not taken in, for a person. */
export class NotTakenIn extends Error {}

/** There are more or larger objects than we accept, whatever is asked for. */
class TooMuch extends NotTakenIn {}

export interface Objects {
  /** The commits to bring in, with everything they need. */
  tips: readonly string[]
  /** Commits that the project certainly has. */
  not: readonly string[]
  maxBytes?: number
}

/**
 * Brings objects of a session into the project. The packer sees the session's objects as plain files in our own folder
 * without `info/`, because git would follow its alternates. The checker never sees them, because an object under a
 * false name would pass. It works in a folder that joins the project only if everything was right.
 */
export async function takeObjects(place: Place, wanted: Objects): Promise<void> {
  if (!wanted.tips.length) return
  // A backup may do this at the same time as the server.
  const staging = join(place.folder, `incoming-${process.pid}`)
  const quarantine = join(place.record.commonDir, 'objects', `tmp_objdir-fleet-${place.record.session}-${process.pid}`)
  try {
    await effect('git.take-in', async () => {
      const pack = await packed(place, wanted, staging, quarantine)
      if (pack) await checked(place, wanted, pack, quarantine)
    })
  } finally {
    rmSync(staging, { recursive: true, force: true })
    rmSync(quarantine, { recursive: true, force: true })
  }
}

/** Lets git see the session's objects besides the project's. Only for looking, because they are unchecked. */
export async function withSessionObjects<T>(
  place: Place,
  look: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  const staging = mkdtempSync(join(place.folder, 'looking-'))
  try {
    stage(join(place.git, 'objects'), staging, MOST_BYTES)
    return await look({ ...ourEnvironment(place), GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(staging) })
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

const MOST_ATTEMPTS = 64

/**
 * Brings in as many tips as possible: if some are refused, the others come in without them. Answers why, for each that
 * did not. After a number of attempts the rest are given up.
 */
export async function takeEach(place: Place, wanted: Objects): Promise<Map<string, string>> {
  const refused = new Map<string, string>()
  let attempts = 0
  const take = async (tips: readonly string[]): Promise<void> => {
    try {
      await takeObjects(place, { ...wanted, tips })
    } catch (failure) {
      if (!(failure instanceof NotTakenIn)) throw failure
      if (tips.length === 1 || failure instanceof TooMuch || ++attempts >= MOST_ATTEMPTS) {
        for (const tip of tips) refused.set(tip, failure.message)
        return
      }
      const half = Math.ceil(tips.length / 2)
      await take(tips.slice(0, half))
      await take(tips.slice(half))
    }
  }
  await take(wanted.tips)
  return refused
}

interface Pack {
  file: string
  name: string
  objects: number
}

/** The agent's `git gc` may move objects while they are read. Then it is tried again. */
async function packed(place: Place, wanted: Objects, staging: string, quarantine: string): Promise<Pack | undefined> {
  for (let tries = 1; ; tries++) {
    rmSync(staging, { recursive: true, force: true })
    rmSync(quarantine, { recursive: true, force: true })
    stage(join(place.git, 'objects'), staging, wanted.maxBytes ?? MOST_BYTES)
    mkdirSync(join(quarantine, 'pack'), { recursive: true })
    try {
      const env = { ...ourEnvironment(place), GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(staging) }
      const args = [
        'pack-objects',
        '--revs',
        '--quiet',
        '--delta-base-offset',
        '--missing=allow-promisor',
        '--threads=1',
        '--window-memory=64m',
      ]
      const input = `${wanted.tips.join('\n')}\n--not\n${wanted.not.join('\n')}\n`
      const { stdout } = await git(place.record.commonDir, [...args, join(quarantine, 'pack/pack')], { env, input })
      const id = stdout.toString('utf8').trim()
      if (!id) return undefined
      const name = `pack-${id}`
      const file = join(quarantine, 'pack', `${name}.pack`)
      return { file, name, objects: objectsIn(file) }
    } catch (failure) {
      if (!(failure instanceof GitFailed)) throw failure
      if (tries === TRIES) throw new NotTakenIn(`git could not read its commits: ${failure.stderr.split('\n')[0]}`)
    }
  }
}

/** Paths in the list of object folders end at a colon, unless they are quoted. */
const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`

/** The plain objects of a folder, and nothing else, under other names of the same files. */
function stage(objects: string, staging: string, maxBytes: number): void {
  mkdirSync(join(staging, 'pack'), { recursive: true })
  let files = 0
  let bytes = 0
  const take = (from: string, to: string): void => {
    const found = lstatSync(from, { throwIfNoEntry: false })
    if (!found?.isFile()) return
    bytes += found.size
    if (++files > MOST_FILES || bytes > maxBytes)
      throw new TooMuch(
        `its repository is larger than ${Math.round(maxBytes / 1024 / 1024)} MB, or has more than ${MOST_FILES} objects`,
      )
    try {
      linkSync(from, to)
    } catch {
      copyFileSync(from, to, constants.COPYFILE_FICLONE)
    }
    // It may have been replaced by a link since it was checked.
    if (!lstatSync(to).isFile()) rmSync(to)
  }
  if (!lstatSync(objects, { throwIfNoEntry: false })?.isDirectory()) return
  for (const folder of readdirSync(objects, { withFileTypes: true })) {
    if (!folder.isDirectory()) continue
    const isPack = folder.name === 'pack'
    if (!isPack && !/^[0-9a-f]{2}$/.test(folder.name)) continue
    mkdirSync(join(staging, folder.name), { recursive: true })
    for (const name of readdirSync(join(objects, folder.name)))
      if (isPack ? /^pack-[0-9a-f]+\.(pack|idx)$/.test(name) : /^[0-9a-f]{38}(?:[0-9a-f]{24})?$/.test(name))
        take(join(objects, folder.name, name), join(staging, folder.name, name))
  }
}

function objectsIn(pack: string): number {
  const head = Buffer.alloc(12)
  const fd = openSync(pack, 'r')
  readSync(fd, head, 0, 12, 0)
  closeSync(fd)
  return head.readUInt32BE(8)
}

async function checked(place: Place, wanted: Objects, pack: Pack, quarantine: string): Promise<void> {
  if (!pack.objects) return
  const repo = projectOf(place)
  const { partial, tolerated } = await settingsOf(repo)
  const how = tolerated.length ? `=${tolerated.join(',')}` : ''
  const objects = join(repo.commonDir, 'objects')
  const maxBytes = wanted.maxBytes ?? MOST_BYTES
  if (statSync(pack.file).size > maxBytes)
    throw new NotTakenIn(`its commits are larger than ${Math.round(maxBytes / 1024 / 1024)} MB`)
  const few = pack.objects < FEW_OBJECTS && !partial
  // The names that the packer wrote do not count: the checker derives them from the content.
  for (const name of readdirSync(join(quarantine, 'pack')))
    if (!name.endsWith('.pack')) rmSync(join(quarantine, 'pack', name))
  const base = ourEnvironment(place)
  try {
    if (few) {
      const loose = join(quarantine, 'loose')
      mkdirSync(loose)
      const env = { ...base, GIT_OBJECT_DIRECTORY: loose, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(objects) }
      await git(repo.commonDir, ['unpack-objects', '-q', `--strict${how}`], {
        env,
        input: readPlainFile(pack.file, { maxBytes }),
      })
      await requireTips(place, wanted, { ...env })
      moveIn(loose, objects)
    } else {
      const args = partial ? ['--fsck-objects'] : [`--strict${how}`]
      await git(repo.commonDir, ['index-pack', ...args, `--keep=fleet-${place.record.session}`, pack.file], {
        env: base,
      })
      const env = { ...base, GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(objects) }
      await requireTips(place, wanted, env)
      if (partial) {
        const walk = [
          'rev-list',
          '--objects',
          '--quiet',
          '--exclude-promisor-objects',
          ...wanted.tips,
          '--not',
          ...wanted.not,
        ]
        await git(repo.commonDir, walk, { env })
      }
      mkdirSync(join(objects, 'pack'), { recursive: true })
      for (const end of ['keep', 'pack', 'rev', 'idx']) {
        const file = join(quarantine, 'pack', `${pack.name}.${end}`)
        if (lstatSync(file, { throwIfNoEntry: false })) renameSync(file, join(objects, 'pack', `${pack.name}.${end}`))
      }
    }
  } catch (failure) {
    if (failure instanceof GitFailed)
      throw new NotTakenIn(`git refuses its commits: ${failure.stderr.trim().split('\n').slice(0, 3).join(' ')}`)
    throw failure
  }
}

/** The content that came must have the names that were asked for. */
async function requireTips(place: Place, { tips }: Objects, env: Record<string, string>): Promise<void> {
  const asked = await git(place.record.commonDir, ['cat-file', '--batch-check=%(objecttype)'], {
    env,
    input: `${tips.join('\n')}\n`,
  })
  const types = asked.stdout.toString('utf8').trim().split('\n')
  if (types.length !== tips.length || types.some(type => type.endsWith('missing')))
    throw new NotTakenIn('some of its commits are not what their names say')
}

function moveIn(loose: string, objects: string): void {
  for (const folder of readdirSync(loose)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue
    mkdirSync(join(objects, folder), { recursive: true })
    for (const name of readdirSync(join(loose, folder))) {
      const to = join(objects, folder, name)
      if (!lstatSync(to, { throwIfNoEntry: false })) renameSync(join(loose, folder, name), to)
    }
  }
}

/** Packs are kept until a ref names their content. */
export function releaseKeeps({ record }: Place): void {
  const folder = join(record.commonDir, 'objects/pack')
  for (const name of readdirSync(folder).filter(name => name.endsWith('.keep'))) {
    const file = join(folder, name)
    if (readPlainFile(file)?.toString('utf8').trim() === `fleet-${record.session}`) rmSync(file, { force: true })
  }
}

/** Whether the session's repository borrows objects from anywhere else than we said. */
export function borrowsElsewhere(place: Place): boolean {
  const info = join(place.git, 'objects/info')
  const alternates = readPlainFile(join(info, 'alternates'), { refuseLinks: true })?.toString('utf8')
  return (
    alternates !== alternatesOf(place) ||
    lstatSync(join(info, 'http-alternates'), { throwIfNoEntry: false }) !== undefined
  )
}
