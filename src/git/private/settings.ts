import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { NO_CONFIGURED_HOOKS } from '../hook-events.ts'
import type { Repository } from '../layout.ts'
import { byteFields, git } from '../run.ts'
import { isSignIn, withoutSignIns } from '../sign-ins.ts'
import { copiedHooksPath } from './hooks.ts'

/** A value as git resolved it in the project; `key` as git prints it: section and name in lower case. */
interface Setting {
  scope: string
  key: string
  value: string
}

export interface Settings {
  /** How its objects are named and found. A private repository must say the same. */
  extensions: Setting[]
  /** Everything that an agent's own git should know. */
  given: Setting[]
  identity: Setting[]
  hooksPath: string | undefined
  /** Hooks that the configuration of the project names. */
  hooks: Setting[]
  lfsStorage: string | undefined
  partial: boolean
  /** Problems in objects that the project accepts, in the form of `--strict=…`. */
  tolerated: string[]
  /** Files of the person outside the repository whose settings include a sign-in. */
  signInFiles: string[]
}

const known = new Map<string, { files: string; settings: Promise<Settings> }>()

/**
 * The project's settings, resolved by git in the project, where an `includeIf` for its folder counts. Git is asked
 * again only if their files change.
 */
export async function settingsOf(repo: Repository): Promise<Settings> {
  const before = known.get(repo.commonDir)
  if (before && before.files === stampOf(before.files)) return before.settings
  const { settings, files } = await readSettings(repo)
  known.set(repo.commonDir, { files: stampOf(files), settings: Promise.resolve(settings) })
  return settings
}

/** The files by name and the moment each was last changed. */
function stampOf(files: string): string {
  const names = [...new Set(files.split('\n').map(line => line.split('\t')[0]!))].filter(Boolean)
  return names
    .map(name => {
      const found = statSync(name, { throwIfNoEntry: false })
      return `${name}\t${found ? `${found.mtimeMs} ${found.ctimeMs} ${found.size}` : 'absent'}`
    })
    .join('\n')
}

async function readSettings(repo: Repository): Promise<{ settings: Settings; files: string }> {
  const listed = await git(repo.path, ['config', '--list', '--show-scope', '--show-origin', '-z', '--includes'])
  const parts = byteFields(listed.stdout)
  const all: Setting[] = []
  const signInFiles = new Set<string>()
  const home = process.env.HOME ?? homedir()
  const files = new Set([
    join(repo.commonDir, 'config'),
    join(repo.gitDir, 'config.worktree'),
    join(home, '.gitconfig'),
    join(process.env.XDG_CONFIG_HOME ?? join(home, '.config'), 'git/config'),
    '/etc/gitconfig',
  ])
  for (let i = 0; i + 2 < parts.length; i += 3) {
    const [scope, origin, line] = [parts[i]!, parts[i + 1]!, parts[i + 2]!]
    if (scope === 'command') continue
    const at = line.indexOf('\n')
    const [key, value] = at < 0 ? [line, 'true'] : [line.slice(0, at), line.slice(at + 1)]
    all.push({ scope, key, value })
    if (!origin.startsWith('file:')) continue
    const file = resolve(repo.path, Buffer.from(origin.slice('file:'.length), 'latin1').toString('utf8'))
    files.add(file)
    if (isSignIn(key, value) && !file.startsWith(`${repo.commonDir}/`)) signInFiles.add(file)
  }
  const last = (key: string) => all.findLast(setting => setting.key === key)?.value
  return {
    files: [...files].join('\n'),
    settings: {
      extensions: all.filter(({ key }) => /^extensions\.(objectformat|partialclone)$/.test(key)),
      given: all.filter(isGiven),
      identity: all.filter(({ key }) => /^(user|author|committer)\./.test(key)),
      hooksPath: last('core.hookspath'),
      hooks: all.filter(({ scope, key }) => key.startsWith('hook.') && scope !== 'global' && scope !== 'system'),
      lfsStorage: last('lfs.storage'),
      partial: last('extensions.partialclone') !== undefined,
      tolerated: all.flatMap(({ key, value }) => {
        const [, name] = /^(?:receive\.)?fsck\.(.+)$/.exec(key) ?? []
        return name ? [`${name === 'skiplist' ? 'skipList' : name}=${value}`] : []
      }),
      signInFiles: [...signInFiles],
    },
  }
}

/** Sections that say where the repository is, what runs by itself, or how to sign in. */
const NOT_GIVEN =
  /^(include|includeif|hook|extensions|credential|gc|maintenance|fleet|worktree|receive|http\..*\.(extraheader|cookiefile)|http\.(extraheader|cookiefile))(\.|$)/
/** The part of `core` that says how files and text are read. */
const CORE =
  /^core\.(autocrlf|eol|safecrlf|excludesfile|attributesfile|ignorecase|precomposeunicode|filemode|symlinks|sshcommand|bigfilethreshold|commentchar|whitespace|abbrev|quotepath|protecthfs|protectntfs|longpaths|sparsecheckout|sparsecheckoutcone|checkroundtripencoding|compression)$/
/** The session's git finds the person's global settings itself. These may depend on the folder. */
const FROM_ANYWHERE = /^(user|author|committer|core|i18n|merge|diff|filter|url|commit|gpg|tag)\./

function isGiven({ scope, key }: Setting): boolean {
  if (NOT_GIVEN.test(key)) return false
  if (key.startsWith('core.')) return CORE.test(key)
  if (/^branch\./.test(key)) return scope === 'local'
  return scope === 'local' || scope === 'worktree' || FROM_ANYWHERE.test(key)
}

const NOWHERE = 'flotilla-does-not-push:///'

export interface Wanted {
  base: string
  allowPush: boolean
  hooks: boolean
  /** The folder with copies of the hooks. */
  hooksFolder: string
  /** Inside the sandbox nothing may sign in. */
  walled?: boolean
  /** What its disk can do. */
  disk: readonly (readonly [key: string, value: string])[]
  /** Where it keeps Git LFS files. */
  lfs: string
}

/** The configuration of a session's repository. It has values only and includes no other file. */
export function sessionConfig(repo: Repository, settings: Settings, wanted: Wanted): Buffer {
  const hooks = wanted.hooks ? copiedHooksPath(repo, settings.hooksPath, wanted.hooksFolder) : '/dev/null'
  const told = wanted.walled ? withoutSignIns(settings.given) : settings.given
  const given = told.filter(
    ({ key }) =>
      key !== 'lfs.storage' &&
      !wanted.disk.some(([own]) => own === key) &&
      (!key.startsWith('branch.') || key.startsWith(`branch.${wanted.base}.`)),
  )
  const addresses = given.flatMap(({ key, value }) => (/^remote\..*\.(push)?url$/.test(key) ? [{ key, value }] : []))
  const lines: (readonly [string, string])[] = [
    ['core.repositoryformatversion', settings.extensions.length ? '1' : '0'],
    ['core.bare', 'false'],
    ['core.logallrefupdates', 'true'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ...settings.extensions.map(({ key, value }): [string, string] => [key, value]),
    ...given.map(({ key, value }): [string, string] => [key, value]),
    ...wanted.disk.map(([key, value]): [string, string] => [key, value]),
    ...(hooks ? [['core.hookspath', hooks] as [string, string]] : []),
    ...(wanted.hooks ? settings.hooks.map(({ key, value }): [string, string] => [key, value]) : NO_CONFIGURED_HOOKS),
    ...(settings.lfsStorage ? [['lfs.storage', wanted.lfs] as [string, string]] : []),
    ...(wanted.allowPush ? [] : pushRefused(addresses)),
  ]
  return configText(lines)
}

function pushRefused(addresses: { key: string; value: string }[]): [string, string][] {
  return [
    [`url.${NOWHERE}.pushinsteadof`, ''],
    ...addresses.map(({ key, value }): [string, string] => [
      `url.${NOWHERE}.${key.endsWith('.pushurl') ? 'insteadof' : 'pushinsteadof'}`,
      value,
    ]),
  ]
}

/** One value as its own section, byte for byte in latin1. */
function configLine(key: string, value: string): string {
  const first = key.indexOf('.')
  const last = key.lastIndexOf('.')
  const section = key.slice(0, first)
  const sub = last > first ? key.slice(first + 1, last) : undefined
  const head = sub === undefined ? `[${section}]` : `[${section} "${sub.replace(/["\\]/g, '\\$&')}"]`
  const quoted = value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\b', '\\b')
  return `${head}\n\t${key.slice(last + 1)} = "${quoted}"\n`
}

export const configText = (lines: readonly (readonly [key: string, value: string])[]): Buffer =>
  Buffer.from(lines.map(([key, value]) => configLine(key, value)).join(''), 'latin1')

/** Settings for one git, as its environment. */
export function configEnvironment(
  settings: readonly (readonly [key: string, value: string])[],
): Record<string, string> {
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) }
  for (const [i, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = key
    env[`GIT_CONFIG_VALUE_${i}`] = Buffer.from(value, 'latin1').toString('utf8')
  }
  return env
}
