import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AUTOSTASHES } from '../checkouts.ts'
import { exists, OID } from '../layout.ts'
import { byteName, shownName } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { pathOf } from '../status.ts'
import { type Named, namedIn, OF_REMOTE } from './logged.ts'
import type { Place } from './place.ts'
import { headIn, MOST_REFS, packedRefs, plainRefs, type Refs } from './refs.ts'

/** What a session left in its repository, read as plain files: git would also read the session's configuration. */
export interface SessionState {
  /** The commit that HEAD points to; undefined: there is none yet, or it could not be read. */
  tip: string | undefined
  /** The branch HEAD is on. */
  head: string | undefined
  /** The tip of the branch that the work belongs on. */
  branch: string | undefined
  /** Refs that differ from what was given, by byte name, without remote-tracking ones. */
  own: Map<string, string>
  /** The commits of remote-tracking refs. */
  remote: string[]
  /** Includes what git stashed by itself before a merge or a rebase. */
  stashes: string[]
  merging: string[]
  /** Commits named elsewhere: in logs, and in operations under way. */
  named: Named
  /** Why the refs could not be read. */
  problem: string | undefined
}

const MOST_STASHES = 1000

export async function stateOf(place: Place): Promise<SessionState> {
  const { git, folder, record } = place
  const given = packedRefs(join(folder, 'given'))
  const itsBranch = byteName(`refs/heads/${record.branch}`)
  const refs = plainRefs(git)
  const { tip, branch } = headIn(git, refs)
  for (const [name, oid] of headsOfWorktrees(git, refs)) refs.set(`refs/worktrees/${name}`, oid)
  const others = [...refs].filter(([ref, oid]) => given.get(ref) !== oid && ref !== itsBranch && ref !== 'refs/stash')
  const own = new Map(others.filter(([ref]) => !followsRemote(git, ref)))
  const isOther = await exists(join(git, 'reftable'))
  const problem = isOther
    ? 'its repository keeps refs in another way'
    : own.size > MOST_REFS
      ? `its repository has more than ${MOST_REFS} refs of its own`
      : undefined
  return {
    tip,
    head: branch === undefined ? undefined : shownName(branch),
    branch: record.branch ? refs.get(itsBranch) : undefined,
    own: own.size > MOST_REFS ? new Map() : own,
    remote: others.flatMap(([ref, oid]) => (own.has(ref) ? [] : [oid])),
    stashes: [
      ...new Set([
        ...stashesIn(plain(join(git, 'logs/refs/stash')), refs.get('refs/stash')),
        ...AUTOSTASHES.flatMap(name => oidsIn(plain(join(git, name)))),
      ]),
    ],
    merging: oidsIn(plain(join(git, 'MERGE_HEAD'))),
    named: namedIn(git),
    problem,
  }
}

function followsRemote(git: string, ref: string): boolean {
  if (!ref.startsWith('refs/remotes/')) return false
  const log = readPlainFile(pathOf(git, `logs/${ref}`), { refuseLinks: true })?.toString('latin1') ?? ''
  return OF_REMOTE.test(log.trimEnd())
}

/** HEADs of worktrees that it added itself. One on a branch has nothing that the branch does not. */
function headsOfWorktrees(git: string, refs: Refs): [name: string, oid: string][] {
  const folder = join(git, 'worktrees')
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  const names = readdirSync(folder, { withFileTypes: true }).flatMap(each => (each.isDirectory() ? [each.name] : []))
  return names.slice(0, MOST_REFS).flatMap((name): [string, string][] => {
    const { tip, branch } = headIn(join(folder, name), refs)
    return tip && branch === undefined ? [[name, tip]] : []
  })
}

/** Only the newest stash is a ref. The others are in its log. */
function stashesIn(log: string | undefined, newest: string | undefined): string[] {
  const logged = (log ?? '').split('\n').flatMap(line => {
    const oid = line.split(' ', 2)[1]
    return oid && OID.test(oid) && !/^0+$/.test(oid) ? [oid] : []
  })
  return [...new Set([...logged, ...(newest ? [newest] : [])])].slice(-MOST_STASHES)
}

const oidsIn = (text = ''): string[] => text.split('\n').filter(line => OID.test(line))

const plain = (path: string): string | undefined => readPlainFile(path, { refuseLinks: true })?.toString('latin1')
