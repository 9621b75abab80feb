import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gitText } from '../../git/run.ts'
import type { Listing } from './listing.ts'
import { TELLING, WOULD_BE_MADE } from './proposal.ts'

const MAX_BYTES = 1024 * 1024

export async function listingOf(top: string): Promise<Listing> {
  const names = readdirSync(top)
  const readable = TELLING.filter(name => names.includes(name) && isReadable(join(top, name)))
  const list = async (...args: string[]): Promise<string[]> =>
    (await gitText(top, args).catch(() => '')).split('\n').filter(Boolean)
  return {
    names,
    texts: Object.fromEntries(readable.map(name => [name, readFileSync(join(top, name), 'utf8')])),
    // If a whole folder is ignored, git names only the folder, with a slash.
    ignored: await list('-c', 'core.quotePath=off', 'ls-files', '-o', '-i', '--exclude-standard', '--directory'),
    ignores: (await list('check-ignore', ...WOULD_BE_MADE, ...WOULD_BE_MADE.map(name => `${name}/`))).map(name =>
      name.replace(/\/$/, ''),
    ),
  }
}

function isReadable(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false })
  return !!found?.isFile() && found.size <= MAX_BYTES
}
