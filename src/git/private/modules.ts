import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { exists, OID } from '../layout.ts'
import { byteName } from '../names.ts'
import { byteFields, fields, git, type Within } from '../run.ts'
import { withoutSignIns } from '../sign-ins.ts'
import { writes } from '../writes/index.ts'
import { ourEnvironment, type Place } from './place.ts'
import { programSettings } from './programs.ts'
import { configEnvironment, configText, type Settings, settingsOf } from './settings.ts'
import { replaceFile } from './writing.ts'

interface Module {
  name: string
  path: string
  commit: string
}

/**
 * Fills the submodules of a new place. Each gets its own repository over the person's copy, whose objects it borrows
 * and never hard-links. No network is used. Returns the paths that stay empty, which an agent can fill itself.
 */
export async function fillModules(place: Place, commit: string, within?: Within): Promise<string[]> {
  if (!(await exists(join(place.worktree, '.gitmodules')))) return []
  const empty: string[] = []
  for (const module of await modulesOf(place, commit)) if (!(await fill(place, module, within))) empty.push(module.path)
  return empty
}

async function modulesOf(place: Place, commit: string): Promise<Module[]> {
  const env = ourEnvironment(place)
  const args = ['config', '-z', '--blob', `${commit}:.gitmodules`, '--get-regexp', '^submodule\\..*\\.path$']
  const declared = fields((await git(place.worktree, args, { env, answers: [1, 128] })).stdout)
  const modules: Module[] = []
  for (const line of declared) {
    const [, name, path] = /^submodule\.(.*)\.path\n(.*)$/s.exec(line) ?? []
    // A name is a folder below `modules` and a path one below the worktree. One that climbs out is hostile.
    if (
      !name ||
      !path ||
      [name, path].some(each => each.startsWith('/') || each.split('/').some(step => step === '..' || step === '.git'))
    )
      continue
    const listed = await git(
      place.worktree,
      ['--literal-pathspecs', 'ls-tree', '-z', '--full-tree', commit, '--', path],
      { env },
    )
    const [, oid] = /^160000 commit ([0-9a-f]+)\t/.exec(byteFields(listed.stdout)[0] ?? '') ?? []
    if (oid && OID.test(oid)) modules.push({ name, path, commit: oid })
  }
  return modules
}

async function fill(place: Place, { name, path, commit }: Module, within: Within | undefined): Promise<boolean> {
  const copy = moduleCopy(place, name)
  if (!(await exists(join(copy, 'HEAD')))) return false
  const gitDir = join(place.git, 'modules', name)
  const worktree = join(place.worktree, path)
  const settings = await settingsOfModule(copy)
  rmSync(gitDir, { recursive: true, force: true })
  await writes().gitDir(gitDir, commit)
  for (const folder of ['refs/heads', 'objects/info', 'objects/pack', 'info', 'hooks'])
    mkdirSync(join(gitDir, folder), { recursive: true })
  writeFileSync(join(gitDir, 'config'), configOf(settings, gitDir, worktree, within !== undefined))
  writeFileSync(join(gitDir, 'objects/info/alternates'), `${join(copy, 'objects')}\n`)
  await writes().head(gitDir, { commit })
  mkdirSync(worktree, { recursive: true })
  replaceFile(join(worktree, '.git'), `gitdir: ${relative(worktree, gitDir)}\n`)
  // Without GIT_NO_LAZY_FETCH a partial copy would fetch what it lacks.
  const env = {
    GIT_DIR: gitDir,
    GIT_WORK_TREE: worktree,
    GIT_INDEX_FILE: join(gitDir, 'index'),
    GIT_NO_LAZY_FETCH: '1',
    ...configEnvironment(programSettings(settings, within)),
  }
  return git(dirname(worktree), ['read-tree', '--reset', '-u', commit], { effect: 'git.submodules', env }).then(
    () => true,
    () => {
      // It is as empty as git leaves a submodule that was never filled.
      rmSync(join(worktree, '.git'), { force: true })
      rmSync(gitDir, { recursive: true, force: true })
      return false
    },
  )
}

/** The person's copy of a submodule. */
export const moduleCopy = ({ record }: Place, name: string): string => join(record.commonDir, 'modules', name)

export const settingsOfModule = (copy: string): Promise<Settings> =>
  settingsOf({ path: copy, gitDir: copy, commonDir: copy, bare: true })

/** Configuration of a submodule: that of the person's copy. */
export const configOf = ({ extensions, given }: Settings, gitDir: string, worktree: string, walled: boolean): Buffer =>
  configText([
    ['core.repositoryformatversion', extensions.length ? '1' : '0'],
    ['core.bare', 'false'],
    ['core.worktree', byteName(relative(gitDir, worktree))],
    ...[...extensions, ...(walled ? withoutSignIns(given) : given)].map(({ key, value }): [string, string] => [
      key,
      value,
    ]),
  ])

/** Submodules of submodules are in there too. */
export function gitDirsIn(folder: string): string[] {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return []
    return existsSync(join(path, 'HEAD')) ? [path, ...gitDirsIn(join(path, 'modules'))] : gitDirsIn(path)
  })
}
