import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Put in by the bundler; running from the sources reads the package instead.
declare const FLEET_VERSION: string | undefined

export const VERSION: string = typeof FLEET_VERSION === 'string' ? FLEET_VERSION : fromPackage()

function fromPackage(): string {
  return (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string })
    .version
}

/** Where the program lies: a clone, or the installed package. The bundle is one folder below it, as the sources are. */
export const PROGRAM_FOLDER: string = fileURLToPath(
  new URL(typeof FLEET_VERSION === 'string' ? '..' : '../..', import.meta.url),
)
