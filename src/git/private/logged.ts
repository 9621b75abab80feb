import { lstatSync, readdirSync } from 'node:fs'
import { OID, readRef } from '../layout.ts'
import { readPlainFile } from '../plain-files.ts'
import { GitFailed, git } from '../run.ts'
import { pathOf } from '../status.ts'
import { NotTakenIn, withSessionObjects } from './objects.ts'
import { type Place, projectOf } from './place.ts'
import { holdingCommit, writeRef } from './project-refs.ts'
import { MOST_REFS } from './refs.ts'
import { settingsOf } from './settings.ts'

const MOST_NAMED = 10_000
const MOST_BYTES = 64 * 1024 * 1024
/** Where git stores operations under way. */
const UNDER_WAY = ['rebase-merge', 'rebase-apply', 'sequencer']
/** A log line of a remote-tracking ref that git wrote on a fetch or push, so the remote has the commit. */
export const OF_REMOTE = /\t(fetch|pull|remote|update by push)\b[^\n]*$/

/** The ref that holds commits which no ref of the session names. */
const refOf = (under: string): string => `${under}/logged`

export interface Named {
  oids: Set<string>
  /** Why not all could be read. */
  problem: string | undefined
}

/** Every commit that the logs and notes in a session's git directory name, including those of its own worktrees. */
export function namedIn(gitDir: string): Named {
  const oids = new Set<string>()
  let files = 0
  let bytes = 0
  const read = (file: string, idsOf: (text: string) => Iterable<string>): void => {
    const path = pathOf(gitDir, file)
    bytes += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (++files > MOST_REFS || bytes > MOST_BYTES) return
    const text = readPlainFile(path, { refuseLinks: true, maxBytes: MOST_BYTES })?.toString('latin1') ?? ''
    for (const oid of idsOf(text)) if (OID.test(oid) && !/^0+$/.test(oid)) oids.add(oid)
  }
  const readLogs = (folder: string, ofRemotes = false): void => {
    for (const { name, isFolder } of entriesOf(gitDir, folder))
      if (isFolder && ++files <= MOST_REFS)
        readLogs(`${folder}/${name}`, ofRemotes || (name === 'remotes' && folder.endsWith('logs/refs')))
      else if (!isFolder) read(`${folder}/${name}`, log => loggedIn(log, ofRemotes))
  }
  const own = entriesOf(gitDir, 'worktrees').flatMap(({ name, isFolder }) => (isFolder ? [`worktrees/${name}`] : []))
  for (const dir of ['.', ...own]) {
    readLogs(`${dir}/logs`)
    // A remote has everything that a fetch brought.
    for (const { name } of entriesOf(gitDir, dir))
      if (/^[A-Z_]+$/.test(name) && name !== 'FETCH_HEAD') read(`${dir}/${name}`, idsIn)
    for (const folder of UNDER_WAY)
      for (const { name } of entriesOf(gitDir, `${dir}/${folder}`)) read(`${dir}/${folder}/${name}`, idsIn)
  }
  const isWhole = files <= MOST_REFS && bytes <= MOST_BYTES
  return { oids, problem: isWhole ? undefined : 'its logs are longer than is read' }
}

/** By byte names. */
function entriesOf(gitDir: string, folder: string): { name: string; isFolder: boolean }[] {
  const path = pathOf(gitDir, folder)
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(path, { withFileTypes: true, encoding: 'buffer' }).map(entry => ({
    name: entry.name.toString('latin1'),
    isFolder: entry.isDirectory(),
  }))
}

const loggedIn = (log: string, ofRemotes: boolean): string[] =>
  log.split('\n').flatMap(line => (ofRemotes && OF_REMOTE.test(line) ? [] : line.split(' ', 2)))

const idsIn = (text: string): string[] => text.match(/\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g) ?? []

/**
 * The commits that a session names and has, and that nothing holds, each with its history. Refs of the project that
 * follow the session do not count, because they go with it.
 */
export async function onlyLogged(
  place: Place,
  { oids, problem }: Named,
  { held, under }: { held: readonly string[]; under: string },
): Promise<{ tips: string[]; problem?: string }> {
  const known = new Set(held)
  const among = [...oids].filter(oid => !known.has(oid))
  if (problem) return { tips: [], problem }
  if (!among.length) return { tips: [] }
  if (among.length > MOST_NAMED) return { tips: [], problem: `its logs name more than ${MOST_NAMED} commits` }
  const repo = projectOf(place)
  const { partial } = await settingsOf(repo)
  const earlier = await readRef(repo, refOf(under))
  const not = [...known, ...(earlier ? [earlier] : [])].map(oid => `^${oid}`)
  const following = [
    `${under}/*`,
    place.record.ref,
    ...(place.record.branch ? [`refs/heads/${place.record.branch}`] : []),
  ]
  const refs = ['--not', ...following.map(ref => `--exclude=${ref}`), '--glob=refs/']
  const walk = ['rev-list', '--ignore-missing', '--parents', ...(partial ? ['--exclude-promisor-objects'] : [])]
  try {
    return await withSessionObjects(place, async env => {
      const beyond = async (tips: string[], more: string[] = []): Promise<string[]> => {
        const input = `${[...tips, ...not].join('\n')}\n`
        const { stdout } = await git(repo.commonDir, [...walk, '--stdin', ...more], { env, input })
        return headsOf(stdout.toString('latin1'))
      }
      // Most are part of its branch. A project may have very many refs.
      const some = await beyond(among)
      return { tips: some.length ? await beyond(some, refs) : [] }
    })
  } catch (failure) {
    if (failure instanceof NotTakenIn) return { tips: [], problem: failure.message }
    if (!(failure instanceof GitFailed)) throw failure
    return { tips: [], problem: `git could not read what its logs name: ${failure.stderr.split('\n')[0]}` }
  }
}

/** The commits that are not a parent of another one. The input has a commit and its parents in each line. */
function headsOf(listed: string): string[] {
  const lines = listed.split('\n').flatMap(line => (line ? [line.split(' ')] : []))
  const parents = new Set(lines.flatMap(([, ...rest]) => rest))
  return lines.flatMap(([oid]) => (parents.has(oid!) ? [] : [oid!]))
}

/** Holds these commits together with those held earlier. */
export async function holdLogged(place: Place, tips: readonly string[], under: string): Promise<string[]> {
  if (!tips.length) return []
  const repo = projectOf(place)
  const ref = refOf(under)
  const earlier = await readRef(repo, ref)
  const all = [...tips, ...(earlier ? [earlier] : [])]
  await writeRef(repo, ref, all.length > 1 ? (await holdingCommit(repo, all))! : all[0]!)
  return [ref]
}
