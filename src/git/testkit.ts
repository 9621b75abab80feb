import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openRepository } from './repository.ts'

export interface RepositoryOptions {
  files?: Record<string, string>
  branch?: string
  bare?: boolean
  /** false: the repository has no identity of its own. */
  identity?: boolean
  /** false: nothing is committed. */
  commits?: boolean
}

export type TestRepository = Awaited<ReturnType<typeof aRepository>>

/**
 * A real repository in its own temporary folder. `root` is that folder; it has room for worktrees beside the
 * repository.
 */
export async function aRepository(options: RepositoryOptions = {}) {
  const branch = options.branch ?? 'main'
  const root = await realpath(await mkdtemp(join(tmpdir(), 'flotilla-git-')))
  const path = join(root, 'repo')
  const git = (...args: string[]) => runGit(path, args)
  await runGit(root, ['init', '--quiet', '--template=', '-b', branch, 'repo'])
  if (options.identity !== false) {
    await git('config', 'user.name', 'A Person')
    await git('config', 'user.email', 'person@example.com')
  }

  const write = async (file: string, content: string | Buffer) => {
    await mkdir(dirname(join(path, file)), { recursive: true })
    await writeFile(join(path, file), content)
  }
  const commit = async (message: string, files: Record<string, string> = {}) => {
    for (const [file, content] of Object.entries(files)) await write(file, content)
    await git('add', '-A')
    await git(...TEST_IDENTITY, 'commit', '--quiet', '--allow-empty', '--no-verify', '-m', message)
    return git('rev-parse', 'HEAD')
  }
  if (options.commits !== false) await commit('first', options.files ?? { 'README.md': '# A project\n' })
  if (options.bare) {
    await rename(path, join(root, 'seed'))
    await runGit(root, ['clone', '--quiet', '--bare', '--template=', 'seed', 'repo'])
    await rm(join(root, 'seed'), { recursive: true })
    await git('remote', 'remove', 'origin')
  }
  return {
    root,
    path,
    branch,
    git,
    write,
    commit,
    open: () => openRepository(path),
    read: (file: string) => readFile(join(path, file), 'utf8'),
    tip: (name = branch) => git('rev-parse', `refs/heads/${name}`),
    readOn: (name: string, file: string) => git('show', `${name}:${file}`),
    filesOn: async (name: string) =>
      (await git('ls-tree', '-r', '-z', '--name-only', name)).split('\0').filter(Boolean),
    remove: () => rm(root, { recursive: true, force: true }),
  }
}

const TEST_IDENTITY = ['-c', 'user.name=A Person', '-c', 'user.email=person@example.com']

/** Git as a person runs it: their hooks and config apply. */
export function runGit(cwd: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) =>
    execFile(
      'git',
      args,
      { cwd, env: { ...process.env, LC_ALL: 'C', ...env }, maxBuffer: 1 << 26 },
      (error, stdout, stderr) =>
        error
          ? reject(new Error(`git ${args.join(' ')}: ${stderr || error.message}`))
          : resolve(stdout.replace(/\n$/, '')),
    ),
  )
}
