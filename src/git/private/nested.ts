import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { exists } from '../layout.ts'
import { byteName, nameBytes, textOf } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, git } from '../run.ts'
import { pathOf } from '../status.ts'
import { configOf, moduleCopy, settingsOfModule } from './modules.ts'
import { ourEnvironment, type Place } from './place.ts'
import { configText } from './settings.ts'
import { sealUnfinished } from './unfinished.ts'
import { foldersIn, nameIn } from './walking.ts'
import { replaceFile } from './writing.ts'

/** The folder in a git directory for what was there before it was sealed. Git reads nothing of this name. */
export const SET_ASIDE = 'set-aside-by-flotilla'

export const isSetAside = (gitDir: Buffer): boolean =>
  lstatSync(Buffer.concat([gitDir, Buffer.from(`/${SET_ASIDE}`)]), { throwIfNoEntry: false }) !== undefined

/**
 * Seals every folder below a worktree that git would take for a git directory, whether an index names it or not, and
 * those of submodules. What makes git run programs is set aside in that directory, and a `.git` that leads elsewhere is
 * made to lead nowhere. Files that a commit holds stay as they are: they are seen before they land.
 * All paths in here are byte names, absolute and without links.
 */
export async function sealNested(place: Place, { walled, files }: { walled: boolean; files: boolean }): Promise<void> {
  if (!isFolder(place.worktree)) return
  const tops = [...(files ? [place.worktree] : []), join(place.git, 'modules')]
    .filter(isFolder)
    .map(top => realpathSync.native(top))
  const found = (await Promise.all(tops.map(top => gitsIn(top)))).reduce(joined, nothing())
  const own = byteName(realpathSync.native(place.git))
  const committed = await committedAmong(place, found.gitDirs)
  const sealed = new Set([own, ...found.gitDirs.filter(gitDir => !committed(gitDir))])
  for (const gitDir of sealed)
    if (gitDir !== own) await sealOne({ place, walled, sealed, modules: `${own}/modules/` }, gitDir)
  for (const link of found.links) sealLink(link, sealed)
  for (const { folder, mode } of found.shut) chmodSync(nameBytes(folder), mode)
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

interface Gits {
  gitDirs: string[]
  /** Everything called `.git` that is no folder. */
  links: string[]
  /** Folders that had to be opened to look into them. */
  shut: { folder: string; mode: number }[]
}

const nothing = (): Gits => ({ gitDirs: [], links: [], shut: [] })
const joined = (a: Gits, b: Gits): Gits => ({
  gitDirs: [...a.gitDirs, ...b.gitDirs],
  links: [...a.links, ...b.links],
  shut: [...b.shut, ...a.shut],
})

async function gitsIn(top: string, from = ''): Promise<Gits> {
  let found = nothing()
  const at = (folder: string) => byteName(top) + (folder && `/${folder}`)
  for await (const { folder, entries, failure } of foldersIn(top, { from })) {
    const mode = failure === 'EACCES' ? opened(pathOf(top, folder)) : undefined
    if (mode !== undefined) {
      found = joined(found, await gitsIn(top, folder))
      found.shut.push({ folder: at(folder), mode })
    }
    const names = new Map(entries.map(entry => [entry.name.toString('latin1').toLowerCase(), entry]))
    if (names.has('head') && (names.has('commondir') || (names.has('objects') && names.has('refs'))))
      found.gitDirs.push(at(folder))
    const dotGit = names.get('.git')
    if (folder && dotGit && !dotGit.isDirectory()) found.links.push(at(nameIn(folder, dotGit)))
  }
  return found
}

/**
 * Gives us access to a folder and returns its earlier mode; undefined: it was open already, or belongs to somebody
 * else.
 */
function opened(path: Buffer): number | undefined {
  const { mode, uid } = lstatSync(path)
  if ((mode & 0o700) === 0o700 || uid !== process.getuid?.()) return undefined
  chmodSync(path, mode | 0o700)
  return mode & 0o7777
}

/** Whether a commit contains files that make git run programs, for git directories among the files of the worktree. */
async function committedAmong(place: Place, gitDirs: readonly string[]): Promise<(gitDir: string) => boolean> {
  const top = `${byteName(realpathSync.native(place.worktree))}/`
  const isAmongFiles = (gitDir: string) =>
    gitDir.startsWith(top) &&
    !gitDir
      .slice(top.length)
      .split('/')
      .some(step => step.toLowerCase() === '.git')
  if (!gitDirs.some(isAmongFiles)) return () => false
  const args = ['ls-files', '-z']
  const files = byteFields((await git(place.worktree, args, { env: ourEnvironment(place) })).stdout)
  const holding = new Set(
    files.flatMap(
      file => /^(.*)\/(config|config\.worktree|commondir|hooks\/.*|info\/attributes)$/s.exec(file)?.[1] ?? [],
    ),
  )
  return gitDir => isAmongFiles(gitDir) && holding.has(gitDir.slice(top.length))
}

interface Sealing {
  place: Place
  walled: boolean
  sealed: ReadonlySet<string>
  /** The git directories of submodules. */
  modules: string
}

async function sealOne(at: Sealing, gitDir: string): Promise<void> {
  opened(nameBytes(gitDir))
  const shared = linesIn(gitDir, 'commondir')
  if (shared === undefined || !at.sealed.has(led(gitDir, shared) ?? '')) setAside(gitDir, 'commondir')
  if (statIn(gitDir, 'info')?.isDirectory()) {
    opened(nameBytes(`${gitDir}/info`))
    setAside(gitDir, 'info/attributes')
  } else setAside(gitDir, 'info')
  if (!hasOnlySamples(gitDir)) setAside(gitDir, 'hooks')
  await sealConfig(at, gitDir)
  const text = textOf(gitDir)
  if (text !== undefined) sealUnfinished(text)
  else for (const name of ['rebase-merge', 'rebase-apply', 'sequencer']) setAside(gitDir, name)
}

const statIn = (gitDir: string, name: string) => lstatSync(nameBytes(`${gitDir}/${name}`), { throwIfNoEntry: false })

/** Reads a file that names another folder, as git does. */
const linesIn = (folder: string, name: string): string | undefined =>
  readPlainFile(nameBytes(`${folder}/${name}`), { refuseLinks: true })
    ?.toString('latin1')
    .replace(/[\r\n]+$/, '')

/** Where a path leads through all links, as the system follows it. */
function led(from: string, path: string): string | undefined {
  try {
    const whole = nameBytes(path.startsWith('/') ? path : `${from}/${path}`)
    return realpathSync.native(whole, 'buffer').toString('latin1')
  } catch {
    return undefined
  }
}

function hasOnlySamples(gitDir: string): boolean {
  if (!statIn(gitDir, 'hooks')?.isDirectory()) return false
  const hooks = nameBytes(`${gitDir}/hooks`)
  opened(hooks)
  return readdirSync(hooks, 'buffer').every(name => name.toString('latin1').endsWith('.sample'))
}

function setAside(gitDir: string, name: string): void {
  if (!statIn(gitDir, name)) return
  const folder = firstOf(SET_ASIDE, path => statIn(gitDir, path)?.isDirectory() ?? true)
  mkdirSync(nameBytes(`${gitDir}/${folder}`), { recursive: true })
  opened(nameBytes(`${gitDir}/${folder}`))
  const to = firstOf(`${folder}/${name.replace(/.*\//, '')}`, path => !statIn(gitDir, path))
  renameSync(nameBytes(`${gitDir}/${name}`), nameBytes(`${gitDir}/${to}`))
}

/** The name, or the name with a number, that fits. */
function firstOf(name: string, isFit: (name: string) => boolean): string {
  for (let i = 1; ; i++) {
    const numbered = i === 1 ? name : `${name}-${i}`
    if (isFit(numbered)) return numbered
  }
}

type Line = readonly [key: string, value: string]

async function sealConfig({ place, walled, modules }: Sealing, gitDir: string): Promise<void> {
  const top = byteName(realpathSync.native(place.worktree))
  const found = await configIn(place, gitDir)
  const at = found.lines.findLast(([key]) => key === 'core.worktree')?.[1]
  const worktree = at === undefined ? undefined : led(gitDir, at)
  const isPlaced = worktree !== undefined && `${worktree}/`.startsWith(`${top}/`)
  const isHarmless = ([key]: Line) => HARMLESS.test(key) && (key !== 'core.worktree' || isPlaced)

  const [folder, name] = [textOf(gitDir), gitDir.startsWith(modules) ? textOf(gitDir.slice(modules.length)) : undefined]
  const copy = name && moduleCopy(place, name)
  const worktreeText = isPlaced ? textOf(worktree) : undefined
  const settings =
    copy && folder && worktreeText && (await exists(join(copy, 'HEAD'))) ? await settingsOfModule(copy) : undefined
  const isGiven = ([key, value]: Line) => settings?.given.some(given => given.key === key && given.value === value)

  const isClean = found.isWhole && found.lines.every(line => isHarmless(line) || isGiven(line))
  if (!isClean) for (const each of CONFIGS) setAside(gitDir, each)
  if (settings) {
    replaceFile(join(folder!, 'config'), configOf(settings, folder!, worktreeText!, walled))
    replaceFile(join(folder!, 'objects/info/alternates'), `${join(copy!, 'objects')}\n`)
  } else if (!isClean)
    writeFileSync(nameBytes(`${gitDir}/config`), configText(found.lines.filter(isHarmless)), { flag: 'wx' })
}

/** Git reads the second if the first says so. */
const CONFIGS = ['config', 'config.worktree']

/** What an agent may have configured, and whether all of it could be read. */
async function configIn(place: Place, gitDir: string): Promise<{ lines: Line[]; isWhole: boolean }> {
  const lines: Line[] = []
  let isWhole = true
  for (const name of CONFIGS) {
    if (!statIn(gitDir, name)) continue
    const input = readPlainFile(nameBytes(`${gitDir}/${name}`), { refuseLinks: true })
    const args = ['config', '--file', '-', '--no-includes', '--list', '-z']
    const listed = input && (await git(place.record.commonDir, args, { input, answers: [1, 128] }))
    isWhole &&= listed?.exit === 0
    for (const line of byteFields(listed?.stdout ?? Buffer.alloc(0))) {
      const at = line.indexOf('\n')
      lines.push(at < 0 ? [line, 'true'] : [line.slice(0, at), line.slice(at + 1)])
    }
  }
  return { lines, isWhole }
}

/** Settings that run nothing, whatever their value. */
const HARMLESS =
  /^(core\.(repositoryformatversion|bare|worktree|filemode|symlinks|ignorecase|precomposeunicode|logallrefupdates|autocrlf|eol|sparsecheckout|sparsecheckoutcone)|extensions\.objectformat|user\.(name|email)|remote\..*\.(url|fetch|tagopt)|branch\..*\.(remote|merge|rebase)|submodule\.active|submodule\..*\.(url|active)|index\.(sparse|version)|init\.defaultbranch|gc\.auto)$/s

/** Nothing can ever be there. To git it is as if there were no link; another form would make `git status` fail. */
const NOWHERE = '/dev/null/set aside by Flotilla: '
/** Longer than a path can be. */
const MOST_TEXT = 4000

/** Replaces a link by one that leads nowhere and says where the old one led. */
function sealLink(link: string, sealed: ReadonlySet<string>): void {
  const path = nameBytes(link)
  const folder = link.slice(0, link.lastIndexOf('/'))
  const isLink = lstatSync(path).isSymbolicLink()
  const text = isLink ? readlinkSync(path, 'buffer').toString('latin1') : linesIn(folder, '.git')
  if (text === undefined || text.startsWith(NOWHERE) || (!isLink && !text.startsWith('gitdir: '))) return
  if (sealed.has(led(folder, isLink ? text : text.slice('gitdir: '.length)) ?? '')) return
  opened(nameBytes(folder))
  rmSync(path)
  symlinkSync(nameBytes(`${NOWHERE}${text.replaceAll('\0', ' ').slice(0, MOST_TEXT)}`), path)
}
