import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import type { Fleet } from '../fleet/fleet.ts'
import { requirePlain } from '../platform/whole-files.ts'

export type Log = Logger

const MAX_LOG_BYTES = 10 * 1024 * 1024
const MIN_SECRET_LENGTH = 8
/** What follows a name, and tokens themselves, wherever they are: of people, of scrapers, JWTs, those that are signed. */
const FORMS = [
  '(?<=Bearer +)[^\\s"\\\\]+',
  '(?<=[?&]token=)[^\\s&"\\\\]+',
  '\\bflt_[0-9a-z]{12}_[\\w-]+',
  '\\bfleet_scrape_[\\w-]+',
  '\\beyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*',
  '\\b(?:session|browser|link|device)\\.[\\w:.-]+\\.[\\w-]{43}',
]
const SECRET_NAME = /token|secret|password|passwd|credential|api_?key|private_?key/i

/** JSON lines in the home's logs folder. The scrubber removes secrets from everything, also from unexpected errors. */
export async function openLog(
  fleet: Pick<Fleet, 'home' | 'keys' | 'environment'>,
  maxBytes = MAX_LOG_BYTES,
): Promise<Log> {
  const scrub = scrubber(fleet.environment, await fleet.keys.secrets())
  const file = new RotatingFile(join(fleet.home.logs, 'server.log'), maxBytes)
  return pino(
    { base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: line => file.append(scrub(line)) },
  )
}

/** Removes secrets: tokens by their form, the home's own and the environment's secrets by their value. */
export function scrubber(environment: Fleet['environment'], own: readonly string[]): (text: string) => string {
  const named = Object.entries(environment).filter(
    ([name, value]) => SECRET_NAME.test(name) && value && value.length >= MIN_SECRET_LENGTH,
  )
  const values = [...own, ...named.map(([, value]) => JSON.stringify(value).slice(1, -1))]
  const known = values.map(value => value.replace(/[^\w]/g, '\\$&')).join('|')
  const pattern = new RegExp([known, ...FORMS].join('|'), 'gi')
  return text => text.replace(pattern, '[hidden]')
}

/** Written at once, so that a killed server leaves its last lines; the previous file is kept as `.1`. */
class RotatingFile {
  readonly #path: string
  readonly #maxBytes: number
  #fd: number
  #bytes: number

  constructor(path: string, maxBytes: number) {
    this.#path = path
    this.#maxBytes = maxBytes
    requirePlain(path)
    this.#fd = openSync(path, 'a', 0o600)
    this.#bytes = fstatSync(this.#fd).size
  }

  append(line: string): void {
    try {
      if (this.#bytes > this.#maxBytes) this.#rotate()
      this.#bytes += writeSync(this.#fd, line)
    } catch {
      // A full disk must not stop the server.
    }
  }

  /** The open file is closed last, so that a step that fails leaves one to write to. */
  #rotate(): void {
    this.#bytes = 0
    try {
      renameSync(this.#path, `${this.#path}.1`)
    } catch {
      // It was removed, or `.1` cannot be replaced. Then the same file grows on.
    }
    const next = openSync(this.#path, 'a', 0o600)
    closeSync(this.#fd)
    this.#fd = next
  }
}
