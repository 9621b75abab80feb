import { join } from 'node:path'
import { exists, type Repository } from './layout.ts'
import { fields, git } from './run.ts'

/**
 * Fills the submodules of a new worktree from the copies the person already has, without the network and without
 * `--init`, which would write the shared config. Returns the paths that stay empty; an agent can fill those itself.
 * Submodules of submodules are left to the agent.
 */
export async function fillSubmodules(repo: Repository, worktree: string): Promise<string[]> {
  if (!(await exists(join(worktree, '.gitmodules')))) return []
  const listed = await git(
    worktree,
    ['config', '-z', '--file', '.gitmodules', '--get-regexp', '^submodule\\..*\\.path$'],
    { answers: [1] },
  )
  const modules = fields(listed.stdout).flatMap(line => {
    const [, name, path] = /^submodule\.(.*)\.path\n(.*)$/s.exec(line) ?? []
    // A name is a folder below `modules`: one that climbs out of it is hostile.
    return name && path && !name.split('/').includes('..') ? [{ name, path }] : []
  })
  const empty: string[] = []
  for (const { name, path } of modules) {
    const copy = join(repo.commonDir, 'modules', name)
    if (!(await exists(join(copy, 'HEAD'))) || !(await fill(worktree, name, path, copy))) empty.push(path)
  }
  return empty
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
