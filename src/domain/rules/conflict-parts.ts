/** A place where both sides changed the same lines. The texts are byte strings, as git merged them. */
export interface Disputed {
  base: string
  work: string
}
/** A file of a merge: text that is settled, and places that are not, in order. */
export type Part = string | Disputed

/** The labels of the two sides in git's markers. */
export const SIDES = { base: 'base', work: 'work' } as const

/** The parts of a file with git's conflict markers of this length. */
export function partsOf(merged: string, markerSize: number): Part[] {
  const marker = (character: string, label = '') => `${character.repeat(markerSize)}${label && ` ${label}`}`
  const [begin, middle, end] = [marker('<', SIDES.base), marker('='), marker('>', SIDES.work)]
  const parts: Part[] = []
  let settled = ''
  let open: (Disputed & { side: keyof Disputed }) | undefined
  for (const line of merged.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const bare = line.replace(/\r?\n$/, '')
    if (bare === begin && !open) {
      if (settled) parts.push(settled)
      settled = ''
      open = { base: '', work: '', side: 'base' }
    } else if (open && bare === middle && open.side === 'base') open.side = 'work'
    else if (open && bare === end && open.side === 'work') {
      parts.push({ base: open.base, work: open.work })
      open = undefined
    } else if (open) open[open.side] += line
    else settled += line
  }
  if (settled) parts.push(settled)
  return parts
}

export const disputedIn = (parts: readonly Part[]): Disputed[] => parts.filter(part => typeof part !== 'string')

/** How a person settles one place: by one side, by both in this order, or by a text of their own. */
export type Settled = 'base' | 'work' | 'both' | { text: string }

/** The file with every place settled. There must be one decision for each. */
export function settledText(parts: readonly Part[], decisions: readonly Settled[]): string {
  let at = 0
  const isWindows = parts.some(part => /\r\n/.test(typeof part === 'string' ? part : part.base + part.work))
  const settled = parts.map(part =>
    typeof part === 'string' ? part : settledBy(part, decisions[at++]!, isWindows ? '\r\n' : '\n'),
  )
  return settled.join('')
}

/** The last place of a file may have no end of line, on both sides. */
function settledBy({ base, work }: Disputed, decision: Settled, fileEnding: string): string {
  if (decision === 'base') return base
  if (decision === 'work') return work
  if (decision === 'both') return base && work && !base.endsWith('\n') ? base + fileEnding + work : base + work
  const { text } = decision
  const ending = /\r?\n$/.exec(base || work)?.[0] ?? ''
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/)
  const written = lines.map(line => Buffer.from(line, 'utf8').toString('latin1')).join(ending || fileEnding)
  return text === '' ? '' : `${written}${ending}`
}

/** What one side of a merge has at a path. */
export type SideState = 'file' | 'link' | 'submodule' | 'deleted'

export interface Sides {
  base: SideState
  work: SideState
  /** Whether both sides are text, so that their lines can be compared. */
  text: boolean
}

/** Why a file is in conflict, in words. */
export function conflictInWords({ base, work, text }: Sides, branch: string): string {
  if (base === 'deleted' && work === 'deleted') return 'Each side renamed this file in its own way.'
  if (base === 'deleted') return `${branch} deleted or renamed this file; this work changed it.`
  if (work === 'deleted') return `This work deleted or renamed the file; ${branch} changed it.`
  if (base !== work) return `It is a ${base} on ${branch} and a ${work} in this work.`
  if (base === 'submodule') return 'Both sides moved this submodule to another commit.'
  if (base === 'link') return 'Both sides changed where this link points.'
  return text
    ? 'Both sides changed the same lines.'
    : 'Both sides changed this file. It is not text, so its lines cannot be merged.'
}
