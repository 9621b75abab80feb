import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { exists, OID } from '../layout.ts'
import { nameBytes } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, fields, git, type Within } from '../run.ts'
import { withoutSignIns } from '../sign-ins.ts'
import { gitDirIn, namedBelow } from './below.ts'
import { ourEnvironment, type Place } from './place.ts'
import { programSettings } from './programs.ts'
import { configEnvironment, configLine, type Settings, settingsOf } from './settings.ts'
import { sealUnfinished } from './unfinished.ts'
import { replaceFile } from './writing.ts'

interface Module {
  name: string
  path: string
  commit: string
}

/**
 * Fills the submodules of a new place: each gets a repository of its own over the person's copy, whose objects are
 * behind it and never hard-linked. No network. Returns the paths that stay empty, which an agent can fill itself.
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
    // A name is a folder below `modules`, a path one below the worktree: one that climbs out is hostile.
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
  const copy = join(place.record.commonDir, 'modules', name)
  if (!(await exists(join(copy, 'HEAD')))) return false
  const gitDir = join(place.git, 'modules', name)
  const worktree = join(place.worktree, path)
  const module = { path: copy, gitDir: copy, commonDir: copy, bare: true }
  const settings = await settingsOf(module)
  rmSync(gitDir, { recursive: true, force: true })
  for (const folder of ['refs/heads', 'objects/info', 'objects/pack', 'info', 'hooks'])
    mkdirSync(join(gitDir, folder), { recursive: true })
  writeFileSync(join(gitDir, 'config'), configOf(settings, gitDir, worktree, within !== undefined))
  writeFileSync(join(gitDir, 'objects/info/alternates'), `${join(copy, 'objects')}\n`)
  writeFileSync(join(gitDir, 'HEAD'), `${commit}\n`)
  mkdirSync(worktree, { recursive: true })
  writeFileSync(join(worktree, '.git'), `gitdir: ${relative(worktree, gitDir)}\n`)
  // A partial copy would go and fetch what it lacks.
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
      // As empty as git leaves one that was never filled.
      rmSync(join(worktree, '.git'), { force: true })
      rmSync(gitDir, { recursive: true, force: true })
      return false
    },
  )
}

/** Configuration of a submodule: that of the person's copy. */
const configOf = ({ extensions, given }: Settings, gitDir: string, worktree: string, walled: boolean): Buffer =>
  configText([
    ['core.repositoryformatversion', extensions.length ? '1' : '0'],
    ['core.bare', 'false'],
    ['core.worktree', relative(gitDir, worktree)],
    ...[...extensions, ...(walled ? withoutSignIns(given) : given)].map(({ key, value }): [string, string] => [
      key,
      value,
    ]),
  ])

const configText = (lines: readonly [string, string][]): Buffer =>
  Buffer.from(lines.map(([key, value]) => configLine(key, value)).join(''), 'latin1')

/**
 * Writes anew, as `seal` does for the place itself, what makes git run programs in the repositories below its worktree:
 * submodules, and those that an agent made and its commits name. A link that leads elsewhere goes.
 */
export async function sealModules(place: Place, walled: boolean): Promise<void> {
  const modules = join(place.git, 'modules')
  for (const gitDir of gitDirsIn(modules)) await sealModule(place, walled, gitDir, relative(modules, gitDir))
  for (const { path } of await namedBelow(place.worktree, ourEnvironment(place))) {
    const folder = join(place.worktree, nameBytes(path).toString('utf8'))
    // A folder that is reached through a link is another one, and not the agent's.
    if (!isItself(folder, place.worktree)) continue
    const gitDir = gitDirIn(folder)
    if (gitDir && isInside(gitDir, place.worktree) && isItself(gitDir, place.worktree))
      await sealModule(place, walled, gitDir)
    else if (!gitDir || !isInside(gitDir, modules)) rmSync(join(folder, '.git'), { force: true })
  }
}

const isItself = (path: string, top: string): boolean =>
  existsSync(path) && realpathSync(path) === join(realpathSync(top), relative(top, path))

const isInside = (path: string, folder: string): boolean => path.startsWith(folder + sep)

/** Submodules of submodules are in there too. */
export function gitDirsIn(folder: string): string[] {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return []
    return existsSync(join(path, 'HEAD')) ? [path, ...gitDirsIn(join(path, 'modules'))] : gitDirsIn(path)
  })
}

async function sealModule(place: Place, walled: boolean, gitDir: string, name?: string): Promise<void> {
  const copy = name && join(place.record.commonDir, 'modules', name)
  const known = copy && (await exists(join(copy, 'HEAD')))
  const own = await harmlessOf(place, gitDir)
  const at = own.find(([key]) => key === 'core.worktree')?.[1]
  const worktree = at && resolve(gitDir, Buffer.from(at, 'latin1').toString('utf8'))
  const placed = worktree && isInside(worktree, place.worktree)
  const config =
    known && placed
      ? configOf(await settingsOf({ path: copy, gitDir: copy, commonDir: copy, bare: true }), gitDir, worktree, walled)
      : configText(own.filter(([key]) => key !== 'core.worktree' || placed))
  for (const path of ['config', 'config.worktree', 'commondir', 'hooks', 'info'])
    rmSync(join(gitDir, path), { recursive: true, force: true })
  for (const folder of ['info', 'hooks']) mkdirSync(join(gitDir, folder))
  replaceFile(join(gitDir, 'config'), config)
  sealUnfinished(gitDir)
  if (known) replaceFile(join(gitDir, 'objects/info/alternates'), `${join(copy, 'objects')}\n`)
}

const HARMLESS =
  /^(core\.(repositoryformatversion|bare|worktree)|extensions\.objectformat|remote\..*\.(url|fetch)|branch\..*\.(remote|merge)|submodule\..*\.(url|active))$/

/** Of a configuration that an agent may have written, what runs nothing. */
async function harmlessOf(place: Place, gitDir: string): Promise<[string, string][]> {
  const file = join(gitDir, 'config')
  if (!readPlainFile(file, { refuseLinks: true })) return []
  const args = ['config', '--file', file, '--no-includes', '--list', '-z']
  const listed = await git(place.record.commonDir, args, { answers: [1, 128] })
  return byteFields(listed.stdout).flatMap(line => {
    const at = line.indexOf('\n')
    const [key, value] = at < 0 ? [line, 'true'] : [line.slice(0, at), line.slice(at + 1)]
    return HARMLESS.test(key) ? [[key, value] as [string, string]] : []
  })
}
