/** A person reads longer requests on the page. */
const MOST_LINES = 40

/** What a tool asks to do, for a person: a change as its diff, other fields by name. */
export function linesOf(text: string): string[] {
  const lines = fieldsOf(text).flatMap(([name, value]) =>
    name === 'changes' && Array.isArray(value) ? value.flatMap(change) : field(name, value),
  )
  const more = lines.length - MOST_LINES
  return more > 0 ? [...lines.slice(0, MOST_LINES), `… and ${more} more lines`] : lines
}

function fieldsOf(text: string): [string, unknown][] {
  try {
    const input: unknown = JSON.parse(text)
    if (typeof input === 'object' && input !== null) return Object.entries(input)
  } catch {
    // It is not JSON, so it is shown as it is.
  }
  return [['', text]]
}

function field(name: string, value: unknown): string[] {
  const [first = '', ...rest] = (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n')
  return [name ? `${name}: ${first}` : first, ...rest.map(line => `  ${line}`)]
}

/** In the form of Codex: a diff of a changed file, the text of a new or deleted one. */
function change(value: unknown): string[] {
  const { path, kind, diff } = (value ?? {}) as { path?: unknown; kind?: unknown; diff?: unknown }
  const type = typeof kind === 'object' && kind !== null ? (kind as { type?: unknown }).type : kind
  const sign = type === 'add' ? '+' : type === 'delete' ? '-' : ''
  const lines = String(diff ?? '')
    .replace(/\n$/, '')
    .split('\n')
  return [`${type ?? 'change'} ${path}`, ...lines.map(line => `  ${sign}${line}`)]
}
