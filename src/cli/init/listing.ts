/**
 * The known facts about a repository: the names at its top, the files that say how it is built, and what git ignores.
 */
export interface Listing {
  names: readonly string[]
  texts: Readonly<Record<string, string>>
  /** Existing files that git ignores. */
  ignored: readonly string[]
  /** Which of WOULD_BE_MADE git ignores. */
  ignores: readonly string[]
}

/** How one kind of project is worked on. */
export interface Part {
  /** Empty: nothing has to be done first. */
  setup: string
  checks: readonly { name: string; command: string }[]
  /** How it was recognised. */
  because: string
}
