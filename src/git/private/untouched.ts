import { type BigIntStats, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { OID } from '../layout.ts'
import { entriesOf, type IndexEntry } from '../plain-index.ts'
import { type Entry, nameOf, ObjectReader, treeContent } from '../plain-objects.ts'
import { pathOf } from '../status.ts'
import { type Place, tipOf } from './place.ts'

/** Reading the records of more files would block the server, and git is asked instead. */
const MOST_FILES = 500

/**
 * Whether a worktree has exactly the files of its last commit, by the same signs as git goes by, but without a process:
 * our index is that commit, each file has the record that git saw, and there is nothing else. False: git has to look.
 */
export async function isUntouched(place: Place): Promise<boolean> {
  const tip = tipOf(place)
  if (!OID.test(tip)) return false
  try {
    const index = join(place.ours, 'index')
    const entries = entriesOf(index, tip.length / 2)
    if (!entries || entries.length > MOST_FILES || entries.some(({ special }) => special)) return false
    const commit = await new ObjectReader(place.record.commonDir).commit(tip)
    if (!commit || commit.tree !== treeOf(entries, tip.length)) return false
    const { mtimeNs } = lstatSync(index, { bigint: true })
    return entries.every(entry => isAsSeen(place.worktree, entry, mtimeNs)) && hasNothingElse(place.worktree, entries)
  } catch {
    // A file is gone, or a folder cannot be read.
    return false
  }
}

/** The name of the tree that an index stands for. */
function treeOf(entries: readonly Omit<IndexEntry, 'stat' | 'special'>[], digits: number): string {
  const below = new Map<string, Entry[]>()
  const tree: Entry[] = []
  for (const { name, mode, oid } of entries) {
    const slash = name.indexOf('/')
    if (slash < 0) tree.push({ name, mode, oid })
    else {
      const inside = below.get(name.slice(0, slash)) ?? []
      below.set(name.slice(0, slash), inside)
      inside.push({ name: name.slice(slash + 1), mode, oid })
    }
  }
  for (const [name, inside] of below) tree.push({ name, mode: '40000', oid: treeOf(inside, digits) })
  return nameOf('tree', treeContent(tree), digits)
}

/** Stricter than git: a file that was touched in the same moment as the index was written counts as changed. */
function isAsSeen(worktree: string, { name, mode, stat }: IndexEntry, indexedNs: bigint): boolean {
  const found = lstatSync(pathOf(worktree, name), { bigint: true })
  const isOld = found.mtimeNs < indexedNs && found.ctimeNs < indexedNs
  return isOld && modeOf(found) === mode && Buffer.compare(recordOf(found, mode), withoutDevice(stat)) === 0
}

function modeOf(found: BigIntStats): string | undefined {
  if (found.isSymbolicLink()) return '120000'
  if (!found.isFile()) return undefined
  return found.mode & 0o100n ? '100755' : '100644'
}

const DEVICE_AT = 16

/** The number of a disk may be another after it was mounted again. */
function withoutDevice(stat: Buffer): Buffer {
  const copy = Buffer.from(stat)
  copy.writeUInt32BE(0, DEVICE_AT)
  return copy
}

/** The record of a file in the form of an index entry, without its device. */
function recordOf(found: BigIntStats, mode: string): Buffer {
  const second = 1_000_000_000n
  const fields = [
    ...[found.ctimeNs / second, found.ctimeNs % second, found.mtimeNs / second, found.mtimeNs % second],
    ...[0n, found.ino, BigInt(Number.parseInt(mode, 8)), found.uid, found.gid, found.size],
  ]
  const record = Buffer.alloc(fields.length * 4)
  fields.forEach((field, i) => {
    record.writeUInt32BE(Number(BigInt.asUintN(32, field)), i * 4)
  })
  return record
}

/** Also no empty folder, which git would not notice. */
function hasNothingElse(worktree: string, entries: readonly IndexEntry[]): boolean {
  const files = new Set(['.git'])
  const folders = new Set<string>()
  for (const { name } of entries) {
    files.add(name)
    for (let slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1))
      folders.add(name.slice(0, slash))
  }
  const holdsOnly = (folder: string): boolean =>
    readdirSync(pathOf(worktree, folder || '.'), { withFileTypes: true, encoding: 'buffer' }).every(entry => {
      const name = (folder && `${folder}/`) + entry.name.toString('latin1')
      return entry.isDirectory() ? folders.has(name) && holdsOnly(name) : files.has(name)
    })
  return holdsOnly('')
}
