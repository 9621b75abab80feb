import { readPlainFile } from './plain-files.ts'

/** What an index has at a path. */
export interface Indexed {
  mode: string
  oid: string
}

/** A larger one takes long to read, and git is asked instead. */
const MOST_BYTES = 1024 * 1024
const STAT_BYTES = 40
const EXTENDED = 0x4000
const STAGE = 0x3000
const ASSUMED = 0x8000
const NAME_LENGTH = 0xfff

/** One file of an index. */
export interface IndexEntry extends Indexed {
  /** A byte name. */
  name: string
  /** What the file's record said when git last looked: times, inode, mode, owner and size. */
  stat: Buffer
  /** Git looks at this file in another way than at others, or not at all. */
  special: boolean
}

/** The entries of these paths in an index, by byte name. Undefined: see `entriesOf`. */
export function indexedIn(
  file: string,
  paths: ReadonlySet<string>,
  oidBytes: number,
): Map<string, Indexed> | undefined {
  const entries = entriesOf(file, oidBytes, name => paths.has(name))
  return entries && new Map(entries.map(({ name, mode, oid }) => [name, { mode, oid }]))
}

/**
 * The entries of an index that git wrote (gitformat-index, versions 2 and 3). Undefined: it has conflicts, is large, or
 * is in a form that only git reads.
 */
export function entriesOf(
  file: string,
  oidBytes: number,
  isWanted: (name: string) => boolean = () => true,
): IndexEntry[] | undefined {
  const index = readPlainFile(file, { refuseLinks: true, maxBytes: MOST_BYTES })
  if (!index || index.length < 12 + oidBytes || index.toString('latin1', 0, 4) !== 'DIRC') return undefined
  if (![2, 3].includes(index.readUInt32BE(4))) return undefined
  const found: IndexEntry[] = []
  let at: number = 12
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + STAT_BYTES + oidBytes
    if (flagsAt + 4 > index.length) return undefined
    const flags: number = index.readUInt16BE(flagsAt)
    if (flags & STAGE) return undefined
    const nameAt = flagsAt + (flags & EXTENDED ? 4 : 2)
    const said = flags & NAME_LENGTH
    const end: number = said < NAME_LENGTH ? nameAt + said : index.indexOf(0, nameAt)
    if (index[end] !== 0) return undefined
    const name = index.toString('latin1', nameAt, end)
    if (isWanted(name))
      found.push({
        name,
        mode: index.readUInt32BE(at + 24).toString(8),
        oid: index.toString('hex', at + STAT_BYTES, flagsAt),
        stat: index.subarray(at, at + STAT_BYTES),
        special: (flags & (EXTENDED | ASSUMED)) !== 0,
      })
    // Each entry is filled up with one to eight zero bytes.
    at += Math.floor((end - at) / 8 + 1) * 8
  }
  return hasOnlyHints(index, at, index.length - oidBytes) ? found : undefined
}

/** Extensions with a name in capital letters can be left out. Others change what the entries mean. */
function hasOnlyHints(index: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at += 8 + index.readUInt32BE(at + 4)) {
    const first = index[at]!
    if (at + 8 > end || first < 0x41 || first > 0x5a) return false
  }
  return true
}
