import type { Edit } from '../domain/records/transcript.ts'
import { type Json, list, object, string, text } from './json.ts'

interface Edits {
  edits?: Edit[]
}

/** The names of tools that change files. Their inputs differ in spelling only. */
const TOOLS = new Set(['edit', 'multiedit', 'write', 'notebookedit', 'replace', 'write_file'])

/** The files that a tool call changes, as far as its input says. */
export function editsOf(tool: string, input: unknown): Edits {
  const asked = TOOLS.has(tool.toLowerCase()) ? object(input) : undefined
  const path = asked && (string(asked.file_path) ?? string(asked.filePath) ?? string(asked.notebook_path))
  if (!path) return {}
  const parts = Array.isArray(asked.edits) ? asked.edits.map(part => object(part) ?? {}) : [asked]
  return { edits: parts.map(part => ({ path, ...replaced(part), diff: null })) }
}

const replaced = (part: Json): Pick<Edit, 'old_text' | 'new_text'> => ({
  old_text: string(part.old_string) ?? string(part.oldString),
  new_text: string(part.new_string) ?? string(part.newString) ?? string(part.content) ?? string(part.new_source),
})

/** Codex gives a diff of a changed file, and the text of a new or deleted one. */
export function patchesOf(changes: unknown): Edits {
  const edits = list(changes).map((value): Edit => {
    const change = object(value) ?? {}
    const told = { path: text(change.path), old_text: null, new_text: null, diff: null }
    const kind = object(change.kind)?.type ?? change.kind
    if (kind === 'add') return { ...told, old_text: '', new_text: text(change.diff) }
    if (kind === 'delete') return { ...told, old_text: text(change.diff), new_text: '' }
    return { ...told, diff: text(change.diff) }
  })
  return edits.length ? { edits } : {}
}

/** The form of ACP: diffs are among the content of a tool call. */
export function diffsIn(content: unknown): Edits {
  const edits = list(content).flatMap((value): Edit[] => {
    const block = object(value) ?? {}
    if (block.type !== 'diff') return []
    return [{ path: text(block.path), old_text: string(block.oldText), new_text: string(block.newText), diff: null }]
  })
  return edits.length ? { edits } : {}
}
