import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exists, type Repository } from '../layout.ts'
import { git } from '../run.ts'
import { packedFile, type Refs, refsUnder } from './refs.ts'

/** The tags of a project, and what a session needs so that they outlast their deletion there. */
export interface Tags {
  refs: Refs
  /** Commits of tags that are not on the base branch. One of our commits must hold them. */
  commits: string[]
  /** A commit cannot hold an annotated tag, so each session has them itself: a few small objects in a pack. */
  files: { name: string; content: Buffer }[]
}

const known = new Map<string, { digest: string; tags: Promise<Tags> }>()

/** Git is asked again only if the tags change. */
export async function tagsOf(repo: Repository, base: string): Promise<Tags> {
  const refs = await refsUnder(repo, ['refs/tags/'])
  if (!refs.size) return { refs, commits: [], files: [] }
  const digest = createHash('sha1').update(packedFile(refs)).digest('hex')
  const before = known.get(repo.commonDir)
  if (before?.digest === digest) return before.tags
  const tags = readTags(repo, refs, base)
  known.set(repo.commonDir, { digest, tags })
  tags.catch(() => known.delete(repo.commonDir))
  return tags
}

async function readTags(repo: Repository, refs: Refs, base: string): Promise<Tags> {
  // A tag without its object, as in some shallow clones, must not spoil the rest.
  const list = async (...args: string[]) => {
    const listed = await git(repo.commonDir, ['for-each-ref', ...args, 'refs/tags'], { answers: [1, 128] })
    return listed.stdout.toString('latin1').split('\n').filter(Boolean)
  }
  const apart = await list(
    '--format=%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)',
    `--no-merged=${base}`,
  )
  const annotated = (await list('--format=%(objecttype) %(objectname)')).flatMap(line =>
    line.startsWith('tag ') ? [line.slice('tag '.length)] : [],
  )
  return { refs, commits: apart, files: annotated.length ? await packed(repo, annotated) : [] }
}

async function packed(repo: Repository, objects: readonly string[]): Promise<Tags['files']> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-tags-'))
  try {
    await git(repo.commonDir, ['pack-objects', '--quiet', join(folder, 'pack')], { input: `${objects.join('\n')}\n` })
    return readdirSync(folder).map(name => ({ name, content: readFileSync(join(folder, name)) }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The index is written after its pack: git takes a pack with an index for complete. */
const inOrder = ({ name }: { name: string }): number => (name.endsWith('.idx') ? 1 : 0)

export async function giveTags(gitDir: string, { files }: Tags): Promise<void> {
  for (const { name, content } of files.toSorted((a, b) => inOrder(a) - inOrder(b))) {
    const file = join(gitDir, 'objects/pack', name)
    if (!(await exists(file))) writeFileSync(file, content, { mode: 0o444 })
  }
}
