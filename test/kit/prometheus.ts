import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../clients/pinned.mjs'

/** Where `npm run test:metrics` unpacks Debian's package of Prometheus. Nothing is installed, and no service starts. */
export const PROMETHEUS_FOLDER = join(cacheFolder(), 'prometheus')

/** A program of that package: from the machine, or as unpacked. Undefined: it is not here. */
export function programOf(name: 'prometheus' | 'promtool'): string | undefined {
  const unpacked = join(PROMETHEUS_FOLDER, 'usr', 'bin', name)
  if (existsSync(unpacked)) return unpacked
  return spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0 ? name : undefined
}

export const WHY_SKIPPED = "promtool is not here: npm run test:metrics fetches Debian's package prometheus"
