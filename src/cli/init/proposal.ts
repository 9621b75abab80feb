import type { Check } from '../../domain/records/project.ts'
import { gradle, maven, ofCargo, ofGo } from './compiled.ts'
import type { Listing, Part } from './listing.ts'
import { ofMakefile } from './makefile.ts'
import { ofNode } from './node.ts'
import { ofPython } from './python.ts'

/** Folders that a setup command makes. */
export const WOULD_BE_MADE = ['.venv']

export interface Proposal {
  checks: Pick<Check, 'name' | 'command'>[]
  setup_command: string | null
  copy_files: string[]
  because: string[]
}

/** Files that are read. */
export const TELLING = ['package.json', 'pyproject.toml', 'requirements.txt', 'requirements-dev.txt', 'Makefile']

const KINDS: readonly ((listing: Listing) => Part | undefined)[] = [ofNode, ofPython, ofCargo, ofGo, maven, gradle]

/** How to prepare and check missions on a repository, as far as its files show. */
export function propose(listing: Listing): Proposal {
  const found = KINDS.flatMap(kind => kind(listing) ?? [])
  // A Makefile usually calls the same commands, so it is used only if nothing else says how to check.
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

/** If two kinds of project in one repository have a check of the same name, the second one is named by its command. */
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

/** A file with a person's own settings, which is needed in a worktree too. */
function isLocalSetting(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return LOCAL_SETTINGS.test(name) && !SAMPLES.test(name)
}
