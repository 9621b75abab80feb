import { readFileSync } from 'node:fs'

// Put in by the bundler; running from the sources reads the package instead.
declare const FLEET_VERSION: string | undefined

export const VERSION: string = typeof FLEET_VERSION === 'string' ? FLEET_VERSION : fromPackage()

function fromPackage(): string {
  return (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version
}
