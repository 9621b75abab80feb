import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Repository } from './layout.ts'
import { nameBytes } from './names.ts'
import { fields, git, gitText } from './run.ts'

/** A file as a tree has it. */
export interface TreeFile {
  mode: string
  oid: string
}

export interface FileEdit {
  /** A byte name. */
  name: string
  /** What the file becomes; null: it is deleted. */
  to: TreeFile | { mode: string; content: Buffer } | null
}

/** The file at a path of a commit; undefined: there is no regular file. */
export async function fileEntry(repo: Repository, commit: string, path: string): Promise<TreeFile | undefined> {
  const args = ['--literal-pathspecs', 'ls-tree', '-z', '--full-tree', commit, '--', path]
  const [entry = ''] = fields((await git(repo.path, args)).stdout)
  const [, mode, oid, name] = /^(100\d{3}) blob ([0-9a-f]+)\t(.+)$/s.exec(entry) ?? []
  return mode && oid && name === path ? { mode, oid } : undefined
}

/** The bytes of a blob; undefined: there are more than the limit. */
export async function blobOf(repo: Repository, oid: string, maxBytes: number): Promise<Buffer | undefined> {
  const { stdout } = await git(repo.commonDir, ['cat-file', 'blob', oid], { truncateAt: maxBytes + 1 })
  return stdout.length > maxBytes ? undefined : stdout
}

/** A tree with these files changed, made without a checkout. */
export async function editedTree(repo: Repository, tree: string, edits: readonly FileEdit[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-edit-'))
  const env = { GIT_INDEX_FILE: join(folder, 'index') }
  try {
    await git(repo.commonDir, ['read-tree', tree], { effect: 'git.add', env })
    const lines = await Promise.all(edits.map(edit => indexLine(repo, edit)))
    const input = nameBytes(lines.map(line => `${line}\0`).join(''))
    await git(repo.commonDir, ['update-index', '-z', '--index-info'], { effect: 'git.add', env, input })
    return await gitText(repo.commonDir, ['write-tree'], { effect: 'git.add', env })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function indexLine(repo: Repository, { name, to }: FileEdit): Promise<string> {
  // Mode 0 deletes the entry. The id is not used.
  if (!to) return `0 ${'0'.repeat(40)}\t${name}`
  const oid = 'oid' in to ? to.oid : await writtenBlob(repo, to.content)
  return `${to.mode} ${oid}\t${name}`
}

const writtenBlob = (repo: Repository, input: Buffer): Promise<string> =>
  gitText(repo.commonDir, ['hash-object', '-w', '--stdin'], { effect: 'git.add', input })
