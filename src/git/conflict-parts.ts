import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Part, partsOf, SIDES } from '../domain/rules/conflict-parts.ts'
import type { Conflict } from './commits.ts'
import { blobOf } from './file-edits.ts'
import type { Repository } from './layout.ts'
import { git } from './run.ts'

const MAX_BYTES = 4 * 1024 * 1024
const SHORTEST_MARKER = 32
/** Git says by its exit code how many places are in conflict, up to this many. */
const COUNTS = Array.from({ length: 127 }, (_, at) => at + 1)
const REGULAR = /^100/

/** Both versions of a file, merged as far as they can be. Undefined: one is missing, too large or not text. */
export async function conflictParts(
  repo: Repository,
  { base, work, original }: Pick<Conflict, 'base' | 'work' | 'original'>,
): Promise<Part[] | undefined> {
  if (!base || !work || !REGULAR.test(base.mode) || !REGULAR.test(work.mode)) return undefined
  const ids = [base.oid, original && REGULAR.test(original.mode) ? original.oid : undefined, work.oid]
  const blobs = await Promise.all(ids.map(oid => (oid ? blobOf(repo, oid, MAX_BYTES) : Buffer.alloc(0))))
  const [ours, , theirs] = blobs
  if (!ours || !theirs || blobs.some(blob => !blob || blob.includes(0))) return undefined
  const markerSize = longestMarker(blobs as Buffer[]) + 1
  const folder = mkdtempSync(join(tmpdir(), 'fleet-merge-'))
  try {
    const files = blobs.map((blob, at) => {
      writeFileSync(join(folder, String(at)), blob!)
      return String(at)
    })
    const labels = ['-L', SIDES.base, '-L', 'original', '-L', SIDES.work]
    const args = ['merge-file', '-p', '-q', `--marker-size=${markerSize}`, ...labels, ...files]
    const { stdout } = await git(folder, args, { answers: COUNTS })
    const parts = partsOf(stdout.toString('latin1'), markerSize)
    return isEnded(ours) || isEnded(theirs) ? parts : withoutLastEnd(parts)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The markers must be longer than any in the files themselves. */
function longestMarker(blobs: readonly Buffer[]): number {
  const lengths = blobs.flatMap(blob =>
    [...blob.toString('latin1').matchAll(/^(<+|=+|>+)/gm)].map(([marker]) => marker.length),
  )
  return lengths.reduce((most, length) => Math.max(most, length), SHORTEST_MARKER)
}

const isEnded = (blob: Buffer): boolean => blob.at(-1) === 0x0a

/** Git adds a newline before its last marker, which neither side has. */
function withoutLastEnd(parts: readonly Part[]): Part[] {
  const last = parts.at(-1)
  if (typeof last !== 'object') return [...parts]
  const cut = (text: string) => text.replace(/\r?\n$/, '')
  return [...parts.slice(0, -1), { base: cut(last.base), work: cut(last.work) }]
}
