import { chmodSync, existsSync, lstatSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from './place.ts'

type DiskSettings = readonly (readonly [key: string, value: string])[]

const known = new Map<number, DiskSettings>()

/**
 * What the disk of a place can do. Git tests the same when it makes a clone. The project's settings describe another
 * disk, or are shared with other systems. With them git would miss a file whose name differs in case only, a file that
 * became a program, or one that replaced a link.
 */
export function diskSettings({ ours }: Pick<Place, 'ours'>): DiskSettings {
  const { dev } = statSync(ours)
  const settings = known.get(dev) ?? tried(ours)
  known.set(dev, settings)
  return settings
}

function tried(ours: string): DiskSettings {
  const folder = mkdtempSync(join(ours, 'trying-'))
  try {
    const file = join(folder, 'a')
    writeFileSync(file, '')
    return [
      ...(existsSync(join(folder, 'A')) ? [] : [['core.ignorecase', 'false'] as const]),
      ...(keepsModes(file) ? [['core.filemode', 'true'] as const] : []),
      ...(hasLinks(join(folder, 'link')) ? [['core.symlinks', 'true'] as const] : []),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function keepsModes(file: string): boolean {
  const { mode } = lstatSync(file)
  chmodSync(file, mode ^ 0o100)
  const isKept = lstatSync(file).mode !== mode
  chmodSync(file, mode)
  return isKept && lstatSync(file).mode === mode
}

function hasLinks(path: string): boolean {
  try {
    symlinkSync('a', path)
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false
  }
}
