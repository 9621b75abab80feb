interface Edit {
  before: string
  after: string
}

interface Changes {
  edits: Edit[]
  /** Of the file, if it is told. */
  path: string
  /** Which fields of the input they were taken from. */
  fields: string[]
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** What a tool changes in a file, by the names that the clients have for it; undefined: it is no such tool. */
export function changesIn(input: unknown): Changes | undefined {
  const fields = object(input)
  const named = text(fields.file_path) ?? text(fields.filePath) ?? text(fields.path)
  const path = named ?? ''
  for (const [before, after] of PAIRS) {
    const edit = editOf(fields, before, after)
    if (edit) return { path, edits: [edit], fields: [before, after] }
  }
  if (Array.isArray(fields.edits)) {
    const edits = fields.edits.flatMap(each =>
      PAIRS.flatMap(([before, after]) => editOf(object(each), before, after) ?? []),
    )
    if (edits.length && edits.length === fields.edits.length) return { path, edits, fields: ['edits'] }
  }
  const content = text(fields.content)
  return named !== undefined && content !== undefined
    ? { path, edits: [{ before: '', after: content }], fields: ['content'] }
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
