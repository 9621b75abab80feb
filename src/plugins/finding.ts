import { existsSync, readdirSync, statSync } from 'node:fs'
import { isAbsolute, join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Refusal } from '../domain/errors.ts'
import { PluginName } from '../domain/records/plugin.ts'
import { textOf } from '../platform/whole-files.ts'

/** A plugin on disk, before any of it runs. */
export interface Source {
  name: string
  /** Its entry file; absent if there is nothing to run, and `problem` says why. */
  file: string | undefined
  problem: string | undefined
  origin: 'shipped' | 'home' | 'configured'
}

const CODE = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'])
const BEGINNINGS = [...CODE].map(ext => `index${ext}`)
const SHIPPED = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './shipped/' : './plugins/', import.meta.url))

/** All plugins: those named in the configuration, those in `plugins/` of the home, and those that ship with the fleet. Of one name, the first wins. */
export function findPlugins(home: string, configured: readonly string[]): Source[] {
  const folder = pluginsFolder(home)
  const shipped = codeIn(SHIPPED).map(file => sourceOf(join(SHIPPED, file), 'shipped'))
  const own = shipped.map(each => each.name)
  const named = configured
    .filter(name => !own.includes(name))
    .map(name => sourceOf(isAbsolute(name) ? name : join(folder, 'node_modules', name), 'configured', name))
  const inHome = codeIn(folder).map(file => sourceOf(join(folder, file), 'home'))
  const seen = new Map<string, Source>()
  for (const source of [...named, ...inHome, ...shipped]) if (!seen.has(source.name)) seen.set(source.name, source)
  return [...seen.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

export const pluginsFolder = (home: string): string => join(home, 'plugins')

function codeIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter(name => !/^\.|^node_modules$|\.d\.[cm]?ts$/.test(name))
    .filter(name => CODE.has(parse(name).ext) || isFolder(join(folder, name)))
}

/** Follows links: people link to a plugin they are still writing. */
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

function sourceOf(path: string, origin: Source['origin'], called = parse(path).base): Source {
  const base = isAbsolute(called) ? parse(called).base : called
  const plain = CODE.has(parse(base).ext) ? parse(base).name : base
  const name = plain
    .toLowerCase()
    .replace(/^@/, '')
    .replace(/[^a-z0-9._-]+/g, '-')
  if (!PluginName.safeParse(name).success)
    return { name: 'unnamed', file: undefined, problem: `${base} is not a valid name for a plugin.`, origin }
  const file = entryOf(path)
  return { name, file, problem: file ? undefined : `There is nothing to run at ${path}.`, origin }
}

/** The file itself; for a package, its entry file. */
function entryOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile()) return path
  if (!found) return undefined
  const named = beginningIn(join(path, 'package.json'))
  // A `main` may omit its ending, or be a folder.
  const candidates = [...(named ? [named, `${named}.js`, join(named, 'index.js')] : []), ...BEGINNINGS]
  const entry = candidates.find(each => statSync(join(path, each), { throwIfNoEntry: false })?.isFile())
  return entry && join(path, entry)
}

function beginningIn(file: string): string | undefined {
  if (!existsSync(file)) return undefined
  try {
    const { exports, main } = JSON.parse(textOf(file) ?? '{}') as { exports?: unknown; main?: string }
    return fromExports(exports) ?? main
  } catch {
    return undefined
  }
}

function fromExports(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports
  if (!exports || typeof exports !== 'object') return undefined
  const { '.': root, node, import: esm, default: otherwise, require: common } = exports as Record<string, unknown>
  return [root, node, esm, otherwise, common].map(fromExports).find(found => found !== undefined)
}

/** The content of `plugins/<name>.json`. */
export function settingsOf(home: string, name: string): Record<string, unknown> {
  const file = join(pluginsFolder(home), `${name}.json`)
  if (!existsSync(file)) return {}
  const said = parsed(file)
  if (said && typeof said === 'object' && !Array.isArray(said)) return said as Record<string, unknown>
  throw new Error(`${file} must hold an object.`)
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(textOf(file) ?? '')
  } catch (error) {
    throw error instanceof Refusal ? error : new Error(`${file} is not JSON: ${(error as Error).message}`)
  }
}
