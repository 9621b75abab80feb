import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// The bundler sets it; when run from the sources, the package is read instead.
declare const FLEET_VERSION: string | undefined

export const VERSION: string = typeof FLEET_VERSION === 'string' ? FLEET_VERSION : fromPackage()

function fromPackage(): string {
  return (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string })
    .version
}

/** Where the program is: a clone, or the installed package. The bundle is one folder below it, this file two. */
export const PROGRAM_FOLDER: string = fileURLToPath(
  new URL(typeof FLEET_VERSION === 'string' ? '..' : '../..', import.meta.url),
)
