/** One place of a file where two sides could not be merged. */
export interface Region {
  /** Where it begins in the file with markers. */
  line: number
  base: string
  work: string
}

const BEGIN = /^<{7}( |$)/
const ORIGINAL = /^\|{7}( |$)/
const MIDDLE = /^={7}$/
const END = /^>{7}( |$)/

/** The conflicts in a file with git's markers, whose first side is the base. A region without an end is ignored. */
export function conflictRegions(text: string): Region[] {
  const regions: Region[] = []
  let open: { line: number; part: 'base' | 'original' | 'work'; base: string[]; work: string[] } | undefined
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (BEGIN.test(line)) open = { line: index + 1, part: 'base', base: [], work: [] }
    else if (!open) continue
    else if (ORIGINAL.test(line) && open.part === 'base') open.part = 'original'
    else if (MIDDLE.test(line) && open.part !== 'work') open.part = 'work'
    else if (END.test(line) && open.part === 'work') {
      regions.push({ line: open.line, base: open.base.join('\n'), work: open.work.join('\n') })
      open = undefined
    } else if (open.part !== 'original') open[open.part].push(line)
  }
  return regions
}
