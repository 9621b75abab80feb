import { join } from 'node:path'
import { effect } from '../../platform/effects.ts'
import { COMMIT } from '../collected.ts'
import { asSomeone, writtenCommit } from '../commits.ts'
import { indexedIn } from '../plain-index.ts'
import { type Entry, isTree, ObjectReader, treeContent } from '../plain-objects.ts'
import type { Change } from '../status.ts'
import { writes } from '../writes/index.ts'
import { isByGit } from '../writes/mode.ts'
import { type Place, projectOf, tipOf } from './place.ts'

interface Staged {
  changes: readonly Change[]
  /** Our index has something else that differs from HEAD. */
  more: boolean
  message: string
  env: Record<string, string>
}

/** Commits what is staged in our index of a place, on top of its HEAD. */
export async function commitStaged(place: Place, staged: Staged): Promise<void> {
  if (await effect('git.commit', () => commitPlainly(place, staged))) return
  const { message, env } = staged
  await asSomeone(place.worktree, COMMIT, { effect: 'git.commit', input: message, env })
}

/** The same without a process: the tree follows from that of HEAD and the entries that changed. */
async function commitPlainly(place: Place, { changes, more, message }: Staged): Promise<boolean> {
  const head = tipOf(place)
  const text = cleaned(message)
  if (isByGit() || !text || !changes.length || more) return false
  const paths = new Set(changes.map(({ path }) => path))
  const indexed = indexedIn(join(place.ours, 'index'), paths, head.length / 2)
  if (!indexed) return false
  const reader = new ObjectReader(place.record.commonDir)
  const before = await reader.commit(head)
  const changed = new Map([...paths].map(path => [path, indexed.get(path)]))
  // A file that is neither deleted nor in the index is in a part of it that git keeps folded.
  const isOdd = changes.some(({ path, kind }) => (kind === 'deleted') === indexed.has(path))
  if (!before || isOdd) return false
  const tree = await treeWith(place, reader, before.tree, changed)
  if (tree === undefined || tree === EMPTY) return false
  const commit = await writtenCommit(projectOf(place), { tree, parents: [head], message: text })
  if (commit === undefined) return false
  await writes().head(place.ours, { commit })
  return true
}

type Changed = ReadonlyMap<string, Omit<Entry, 'name'> | undefined>

/** Nothing is left in it, and git has no empty folders. */
const EMPTY = 'empty'

/** A tree with these changes, by byte names below it. Undefined: only git can make it. */
async function treeWith(
  place: Place,
  reader: ObjectReader,
  tree: string | undefined,
  changed: Changed,
): Promise<string | undefined> {
  const [entries] = tree === undefined ? [[]] : ((await reader.trees([tree])) ?? [])
  if (!entries) return undefined
  const named = new Map(entries.map(entry => [entry.name, entry]))
  const below = new Map<string, Map<string, Omit<Entry, 'name'> | undefined>>()
  for (const [path, entry] of changed) {
    const slash = path.indexOf('/')
    const name = slash < 0 ? path : path.slice(0, slash)
    if (slash >= 0) below.set(name, (below.get(name) ?? new Map()).set(path.slice(slash + 1), entry))
    else if (entry) named.set(name, { name, ...entry })
    else named.delete(name)
  }
  for (const [name, inside] of below) {
    const found = named.get(name)
    // A file became a folder, or the other way round.
    if (changed.has(name) || (found && !isTree(found))) return undefined
    const oid = await treeWith(place, reader, found?.oid, inside)
    if (oid === undefined) return undefined
    if (oid === EMPTY) named.delete(name)
    else named.set(name, { mode: '40000', name, oid })
  }
  if (named.size === 0) return EMPTY
  const format = tipOf(place).length === 64 ? 'sha256' : 'sha1'
  const content = treeContent([...named.values()])
  return writes().object(place.record.commonDir, { type: 'tree', format, content })
}

/** As `--cleanup=whitespace` leaves it. */
function cleaned(message: string): string {
  const lines = message.split('\n').map(line => line.replace(/[ \t\r]+$/, ''))
  const text = lines.join('\n').replace(/^\n+|\n+$/g, '')
  return text && `${text.replace(/\n{3,}/g, '\n\n')}\n`
}
