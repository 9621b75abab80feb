export interface Edit {
  before: string
  after: string
}

interface Changes {
  edits: Edit[]
  /** Which fields of the input they were taken from. */
  fields: string[]
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** What a tool changes in a file, by the names that the clients have for it; undefined: it is no such tool. */
export function changesIn(input: unknown): Changes | undefined {
  const fields = object(input)
  for (const [before, after] of PAIRS) {
    const edit = editOf(fields, before, after)
    if (edit) return { edits: [edit], fields: [before, after] }
  }
  if (Array.isArray(fields.edits)) {
    const edits = fields.edits.flatMap(each =>
      PAIRS.flatMap(([before, after]) => editOf(object(each), before, after) ?? []),
    )
    if (edits.length && edits.length === fields.edits.length) return { edits, fields: ['edits'] }
  }
  const path = text(fields.file_path) ?? text(fields.filePath) ?? text(fields.path)
  const content = text(fields.content)
  return path !== undefined && content !== undefined
    ? { edits: [{ before: '', after: content }], fields: ['content'] }
    : undefined
}

const PAIRS = [
  ['old_string', 'new_string'],
  ['oldString', 'newString'],
  ['oldText', 'newText'],
] as const

function editOf(fields: Record<string, unknown>, before: string, after: string): Edit | undefined {
  const [old, now] = [text(fields[before]), text(fields[after])]
  return old !== undefined && now !== undefined ? { before: old, after: now } : undefined
}

export interface DiffLine {
  side: 'old' | 'new' | 'both'
  text: string
}

/** Lines that both begin and end with stand once; what differs between them is taken out and put in as a whole. */
export function diffLines({ before, after }: Edit): DiffLine[] {
  const [old, now] = [before ? before.split('\n') : [], after ? after.split('\n') : []]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const as = (side: DiffLine['side'], lines: string[]) => lines.map(line => ({ side, text: line }))
  return [
    ...as('both', old.slice(0, start)),
    ...as('old', old.slice(start, old.length - end)),
    ...as('new', now.slice(start, now.length - end)),
    ...as('both', old.slice(old.length - end)),
  ]
}
