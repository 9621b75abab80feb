import { join } from 'node:path'
import { exists, gitDirOf, type Repository } from './layout.ts'
import { fields, git } from './run.ts'

/**
 * Fills the submodules of a new worktree from the copies the person already has, without the network and without
 * `--init`, which would write the shared config. Returns the paths that stay empty; an agent can fill those itself.
 * Submodules of submodules are left to the agent.
 */
export async function fillSubmodules(repo: Repository, worktree: string): Promise<string[]> {
  if (!(await exists(join(worktree, '.gitmodules')))) return []
  const empty: string[] = []
  for (const { name, path } of await declaredIn(worktree, 'HEAD')) {
    const copy = sharedCopy(repo, name)
    if (!(await exists(join(copy, 'HEAD'))) || !(await fill(worktree, name, path, copy))) empty.push(path)
  }
  return empty
}

/**
 * Submodules that point since `from` to a commit that no copy of the person has: it was made in the worktree and goes
 * with it. No process is needed if nothing declares a submodule.
 */
export async function strandedSubmodules(
  repo: Repository,
  worktree: string,
  from: string,
  to: string,
): Promise<string[]> {
  const declared = await Promise.all([repo.path, worktree].map(folder => exists(join(folder, '.gitmodules'))))
  if (from === to || !declared.includes(true)) return []
  const pointers = await pointersMoved(repo, from, to)
  if (!pointers.length) return []
  const modules = await declaredIn(repo.path, to)
  const stranded: string[] = []
  for (const { path, commit } of pointers) {
    const copies = modules.flatMap(module => (module.path === path ? [sharedCopy(repo, module.name)] : []))
    const checkedOut = await gitDirOf(join(repo.path, path))
    if (checkedOut) copies.push(checkedOut.gitDir)
    if (!(await anyHolds(copies, commit))) stranded.push(path)
  }
  return stranded
}

interface Declared {
  name: string
  path: string
}

async function declaredIn(cwd: string, commit: string): Promise<Declared[]> {
  const args = ['config', '-z', '--blob', `${commit}:.gitmodules`, '--get-regexp', '^submodule\\..*\\.path$']
  const listed = await git(cwd, args, { answers: [1, 128] })
  return fields(listed.stdout).flatMap(line => {
    const [, name, path] = /^submodule\.(.*)\.path\n(.*)$/s.exec(line) ?? []
    // A name is a folder below `modules`: one that climbs out of it is hostile.
    return name && path && !name.split('/').includes('..') ? [{ name, path }] : []
  })
}

const sharedCopy = (repo: Repository, name: string): string => join(repo.commonDir, 'modules', name)

async function pointersMoved(repo: Repository, from: string, to: string): Promise<{ path: string; commit: string }[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--ignore-submodules=dirty', from, to]
  const parts = fields((await git(repo.path, args)).stdout)
  return parts.flatMap((record, i) => {
    // Without renames every record is followed by exactly one path.
    const [, mode, , commit] = i % 2 === 0 ? record.split(' ') : []
    return mode === '160000' && commit ? [{ path: parts[i + 1]!, commit }] : []
  })
}

async function anyHolds(copies: string[], commit: string): Promise<boolean> {
  for (const copy of copies) {
    if (!(await exists(join(copy, 'HEAD')))) continue
    // A partial copy would fetch what it lacks.
    const env = { GIT_NO_LAZY_FETCH: '1' }
    const asked = await git(copy, [`--git-dir=${copy}`, 'cat-file', '-e', commit], { answers: [1, 128], env })
    if (asked.exit === 0) return true
  }
  return false
}

async function fill(worktree: string, name: string, path: string, copy: string): Promise<boolean> {
  const settings = [`submodule.${name}.url=${copy}`, `submodule.${name}.active=true`, 'protocol.file.allow=always']
  const args = [
    ...settings.flatMap(setting => ['-c', setting]),
    'submodule',
    '--quiet',
    'update',
    '--checkout',
    '--',
    path,
  ]
  return git(worktree, args, { effect: 'git.submodules' }).then(
    () => true,
    () => false,
  )
}
