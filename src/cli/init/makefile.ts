import type { Listing, Part } from './listing.ts'

/** A `check` target usually runs all checks. */
export function ofMakefile({ texts }: Listing): Part | undefined {
  const text = texts.Makefile
  if (text === undefined) return undefined
  const has = (target: string): boolean => new RegExp(`^${target}\\s*:(?!=)`, 'm').test(text)
  const targets = has('check') ? ['check'] : ['lint', 'test'].filter(has)
  return { setup: '', checks: targets.map(name => ({ name, command: `make ${name}` })), because: 'Makefile' }
}
