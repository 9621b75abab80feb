import type { Check } from '../../domain/records/project.ts'
import { gradle, maven, ofCargo, ofGo } from './compiled.ts'
import { ofMakefile } from './makefile.ts'
import { ofNode } from './node.ts'
import { ofPython } from './python.ts'

/** What is seen of a repository: the names at its top, the texts of those that say how it is worked on, and what git ignores. */
export interface Listing {
  names: readonly string[]
  texts: Readonly<Record<string, string>>
  /** Paths of files that are there and that git ignores. */
  ignored: readonly string[]
  /** Which of WOULD_BE_MADE git ignores. */
  ignores: readonly string[]
}

/** What a setup command makes. */
export const WOULD_BE_MADE = ['.venv']

/** How one kind of project is worked on. */
export interface Part {
  /** Empty: nothing has to be done first. */
  setup: string
  checks: readonly { name: string; command: string }[]
  /** What gave it away. */
  because: string
}

export interface Proposal {
  checks: Pick<Check, 'name' | 'command'>[]
  setup_command: string | null
  copy_files: string[]
  because: string[]
}

/** Texts that are worth reading. */
export const TELLING = ['package.json', 'pyproject.toml', 'requirements.txt', 'requirements-dev.txt', 'Makefile']

const KINDS: readonly ((listing: Listing) => Part | undefined)[] = [ofNode, ofPython, ofCargo, ofGo, maven, gradle]

/** How missions on a repository should be prepared and checked, as far as it can be seen from outside. */
export function propose(listing: Listing): Proposal {
  const found = KINDS.flatMap(kind => kind(listing) ?? [])
  // A Makefile usually calls the same things: it is asked only where nothing else says how to check.
  const make = found.some(part => part.checks.length) ? undefined : ofMakefile(listing)
  const parts = make ? [...found, make] : found
  const setups = parts.map(part => part.setup).filter(Boolean)
  return {
    checks: named(parts.flatMap(part => part.checks)),
    setup_command: setups.join(' && ') || null,
    copy_files: listing.ignored.filter(isLocalSetting),
    because: parts.map(part => part.because),
  }
}

/** Two kinds of project in one repository both have tests: the second ones are called by their command. */
function named(checks: readonly { name: string; command: string }[]): Proposal['checks'] {
  const seen = new Set<string>()
  return checks.map(({ name, command }) => {
    const own = seen.has(name) ? command : name
    seen.add(name)
    return { name: own, command }
  })
}

const LOCAL_SETTINGS = /^(\.env(\.[\w-]+)*|\.envrc|\.dev\.vars|local\.properties|local\.settings\.json)$/
const SAMPLES = /\.(example|sample|template|dist|defaults?)$/

/** A file with a person's own settings, which work in a worktree needs too. */
function isLocalSetting(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return LOCAL_SETTINGS.test(name) && !SAMPLES.test(name)
}
