import type { Edit } from './diff/inline.tsx'

interface Changes {
  edits: Edit[]
  /** The fields of the input that they come from. */
  fields: string[]
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** The changes that a tool makes to files, by the field names of the clients; undefined: it changes no file. */
export function changesIn(input: unknown): Changes | undefined {
  const fields = object(input)
  const named = text(fields.file_path) ?? text(fields.filePath) ?? text(fields.path)
  const path = named ?? ''
  for (const [before, after] of PAIRS) {
    const edit = editOf(path, fields, before, after)
    if (edit) return { edits: [edit], fields: [before, after] }
  }
  if (Array.isArray(fields.edits)) {
    const edits = fields.edits.flatMap(each =>
      PAIRS.flatMap(([before, after]) => editOf(path, object(each), before, after) ?? []),
    )
    if (edits.length && edits.length === fields.edits.length) return { edits, fields: ['edits'] }
  }
  if (Array.isArray(fields.changes)) {
    const edits = fields.changes.flatMap(each => patchOf(object(each)) ?? [])
    if (edits.length && edits.length === fields.changes.length) return { edits, fields: ['changes'] }
  }
  const content = text(fields.content)
  return named !== undefined && content !== undefined
    ? { edits: [{ path, old_text: '', new_text: content, diff: null }], fields: ['content'] }
    : undefined
}

const PAIRS = [
  ['old_string', 'new_string'],
  ['oldString', 'newString'],
  ['oldText', 'newText'],
] as const

function editOf(path: string, fields: Record<string, unknown>, before: string, after: string): Edit | undefined {
  const [old_text, new_text] = [text(fields[before]), text(fields[after])]
  return old_text !== undefined && new_text !== undefined ? { path, old_text, new_text, diff: null } : undefined
}

/** Codex gives a diff of a changed file, and the text of a new or deleted one. */
function patchOf(change: Record<string, unknown>): Edit | undefined {
  const [path, diff] = [text(change.path), text(change.diff)]
  if (path === undefined || diff === undefined) return undefined
  const kind = text(object(change.kind).type) ?? text(change.kind)
  if (kind === 'add') return { path, old_text: '', new_text: diff, diff: null }
  if (kind === 'delete') return { path, old_text: diff, new_text: '', diff: null }
  return { path, old_text: null, new_text: null, diff }
}
