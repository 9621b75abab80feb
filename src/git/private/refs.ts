import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { OID, type Repository } from '../layout.ts'
import { nameBytes } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, git } from '../run.ts'
import { pathOf } from '../status.ts'
import { asksGit } from '../writes/mode.ts'

/** Commits by the names of their refs, which are byte names like paths. */
export type Refs = Map<string, string>

/** Refs of a repository that begin with one of these, by name. Read from files if git stores them there. */
export async function refsUnder(repo: Pick<Repository, 'commonDir'>, prefixes: readonly string[]): Promise<Refs> {
  if (asksGit(repo.commonDir)) return askedRefs(repo.commonDir, prefixes)
  const refs: Refs = new Map()
  const packed = packedBytes(join(repo.commonDir, 'packed-refs'))
  if (prefixes.some(prefix => packed.includes(` ${prefix}`)))
    for (const [ref, oid] of readPacked(packed)) if (prefixes.some(prefix => ref.startsWith(prefix))) refs.set(ref, oid)
  for (const prefix of prefixes)
    for (const [ref, oid] of looseRefs(repo.commonDir, prefix.replace(/\/$/, ''))) refs.set(ref, oid)
  return refs
}

async function askedRefs(commonDir: string, prefixes: readonly string[]): Promise<Refs> {
  const listed = await git(commonDir, ['for-each-ref', '--format=%(refname)%00%(objectname)%00', ...prefixes])
  const parts = byteFields(listed.stdout).map(part => part.replace(/^\n/, ''))
  const refs: Refs = new Map()
  for (let i = 0; i + 1 < parts.length; i += 2) refs.set(parts[i]!, parts[i + 1]!)
  return refs
}

const packedBytes = (file: string): string => readPlainFile(file, { refuseLinks: true })?.toString('latin1') ?? ''

/** The refs in a file in the form of `packed-refs`. */
export const packedRefs = (file: string): Refs => new Map(readPacked(packedBytes(file)))

/** The lines that git could have written. */
export function* readPacked(text: string): Generator<[ref: string, oid: string]> {
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ')
    const oid = line.slice(0, space)
    if (space > 0 && OID.test(oid)) yield [line.slice(space + 1), oid]
  }
}

export const MOST_REFS = 10_000

/** Loose refs below a folder, read as plain files up to a limit. No link is followed. */
export function* looseRefs(gitDir: string, under: string): Generator<[ref: string, oid: string]> {
  const folders = [under]
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const path = pathOf(gitDir, folder)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (!found?.isDirectory()) continue
    for (const entry of readdirSync(path, { withFileTypes: true, encoding: 'buffer' })) {
      if (++seen > 2 * MOST_REFS) return
      const ref = `${folder}/${entry.name.toString('latin1')}`
      if (entry.isDirectory()) folders.push(ref)
      if (!entry.isFile() || ref.endsWith('.lock')) continue
      const oid = readPlainFile(pathOf(gitDir, ref), { refuseLinks: true, maxBytes: 4096 })?.toString('latin1').trim()
      if (oid && OID.test(oid)) yield [ref, oid]
    }
  }
}

/** Every ref of a repository that an agent may have written to, read as plain files. */
export function plainRefs(gitDir: string): Refs {
  return new Map([...packedRefs(join(gitDir, 'packed-refs')), ...looseRefs(gitDir, 'refs')])
}

/** The commit that HEAD points to, and the branch HEAD is on, as a byte name. */
export function headIn(gitDir: string, refs: Refs): { tip?: string; branch?: string } {
  const head = readPlainFile(join(gitDir, 'HEAD'), { refuseLinks: true })?.toString('latin1').trim() ?? ''
  const branch = head.startsWith('ref: refs/heads/') ? head.slice('ref: refs/heads/'.length) : undefined
  const tip = branch === undefined ? (OID.test(head) ? head : undefined) : refs.get(`refs/heads/${branch}`)
  return { tip, branch }
}

export function packedFile(refs: Refs): Buffer {
  const lines = [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([ref, oid]) => `${oid} ${ref}\n`)
  return nameBytes(`# pack-refs with: sorted \n${lines.join('')}`)
}
