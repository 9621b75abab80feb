import type { Repository } from './layout.ts'
import { type Entry, isTree, ObjectReader, treeContent } from './plain-objects.ts'
import { writes } from './writes/index.ts'

/** How far behind the tip of the base branch the work may have begun. */
const MOST_COMMITS = 64

/**
 * Merges one commit into a branch that has moved since, if the two sides changed different files. The result is then
 * git's own: content is merged, and renames are followed, only where both sides changed something. Undefined: git must
 * merge them.
 */
export async function mergeApart({ commonDir }: Repository, base: string, tip: string): Promise<string | undefined> {
  const reader = new ObjectReader(commonDir)
  const theirs = await reader.commit(tip)
  const [start, ...others] = theirs?.parents ?? []
  if (!theirs || start === undefined || others.length || !(await isBehind(reader, start, base))) return undefined
  const [ours, before] = [await reader.commit(base), await reader.commit(start)]
  if (!ours || !before) return undefined
  return new Merge(commonDir, reader).trees(before.tree, ours.tree, theirs.tree)
}

/** Whether a commit is among the last of a branch, following first parents. */
async function isBehind(reader: ObjectReader, commit: string, branch: string): Promise<boolean> {
  let at: string | undefined = branch
  for (let i = 0; at !== undefined && i < MOST_COMMITS; i++) {
    if (at === commit) return true
    at = (await reader.commit(at))?.parents[0]
  }
  return false
}

class Merge {
  readonly #commonDir: string
  readonly #reader: ObjectReader

  constructor(commonDir: string, reader: ObjectReader) {
    this.#commonDir = commonDir
    this.#reader = reader
  }

  async trees(before: string, ours: string, theirs: string): Promise<string | undefined> {
    if (before === theirs) return ours
    if (before === ours) return theirs
    if (ours === theirs) return undefined
    const named = (await this.#reader.trees([before, ours, theirs]))?.map(byName)
    const [was, mine, other] = named ?? []
    if (!was || !mine || !other) return undefined
    const merged = new Map(mine)
    for (const name of new Set([...was.keys(), ...other.keys()])) {
      const [from, here, there] = [was.get(name), mine.get(name), other.get(name)]
      if (isSame(from, there)) continue
      if (isSame(from, here)) {
        if (there) merged.set(name, there)
        else merged.delete(name)
        continue
      }
      // Both sides changed it. Only a folder can have different changes on each.
      if (!from || !here || !there || ![from, here, there].every(isTree)) return undefined
      const oid = await this.trees(from.oid, here.oid, there.oid)
      if (oid === undefined) return undefined
      merged.set(name, { ...here, oid })
    }
    // Git has no empty folders, and what becomes of one depends on its renames.
    if (merged.size === 0) return undefined
    const format = ours.length === 64 ? 'sha256' : 'sha1'
    return writes().object(this.#commonDir, { type: 'tree', format, content: treeContent([...merged.values()]) })
  }
}

/** Undefined: it has a name twice, as no tree of git's has. */
function byName(entries: Entry[]): Map<string, Entry> | undefined {
  const named = new Map(entries.map(entry => [entry.name, entry]))
  return named.size === entries.length ? named : undefined
}

const isSame = (one: Entry | undefined, other: Entry | undefined): boolean =>
  one?.oid === other?.oid && one?.mode === other?.mode

/**
 * How many files differ between two commits, with a rename counted once. Undefined: git must say, because files were
 * both added and deleted, and may have been renamed.
 */
export async function filesApart({ commonDir }: Repository, from: string, to: string): Promise<number | undefined> {
  const reader = new ObjectReader(commonDir)
  const [one, other] = [await reader.commit(from), await reader.commit(to)]
  if (!one || !other) return undefined
  const kinds = new Set<'added' | 'deleted'>()
  let files = 0
  const compare = async (before: string | undefined, after: string | undefined): Promise<boolean> => {
    const oids = [before, after].filter(oid => oid !== undefined)
    const trees = await reader.trees(oids)
    if (!trees) return false
    const was = before === undefined ? new Map<string, Entry>() : byName(trees[0]!)
    const is = after === undefined ? new Map<string, Entry>() : byName(trees.at(-1)!)
    if (!was || !is) return false
    for (const name of new Set([...was.keys(), ...is.keys()])) {
      const [then, now] = [was.get(name), is.get(name)]
      if (isSame(then, now)) continue
      if (!then) kinds.add('added')
      if (!now) kinds.add('deleted')
      const folders = [then, now].filter(entry => entry !== undefined).filter(isTree)
      if (kinds.size > 1 || (folders.length === 1 && then && now)) return false
      if (!folders.length) files++
      else if (!(await compare(then?.oid, now?.oid))) return false
    }
    return true
  }
  return (await compare(one.tree, other.tree)) ? files : undefined
}
