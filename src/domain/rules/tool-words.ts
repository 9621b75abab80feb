/** What a tool does, as far as its name tells. */
export type ToolKind = 'run' | 'edit' | 'read' | 'search' | 'web' | 'agent' | 'plan' | 'ask' | 'service' | 'other'

/** By the names that the clients use, in the order in which they are tried. */
const NAMES: readonly (readonly [ToolKind, RegExp])[] = [
  ['service', /^mcp__|^mcp\b/],
  ['run', /bash|shell|exec|command|terminal|^kill/],
  ['web', /web|fetch|browse|url/],
  ['edit', /edit|write|patch|replace|create|delete|move|notebook/],
  ['search', /grep|glob|search|find|^ls$|^list/],
  ['read', /read|^cat$|^view|open/],
  ['agent', /^task$|^agent$|subagent|delegate/],
  ['ask', /^ask|question/],
  ['plan', /todo|plan|think/],
]

export function toolKind(name: string): ToolKind {
  // `TodoWrite` is a plan and no file.
  const plain = name.toLowerCase()
  if (/^todo|^update_plan/.test(plain)) return 'plan'
  return NAMES.find(([, pattern]) => pattern.test(plain))?.[0] ?? 'other'
}

const WISHES: Record<ToolKind, string> = {
  run: 'Wants to run a command',
  edit: 'Wants to change files',
  read: 'Wants to read a file',
  search: 'Wants to search files',
  web: 'Wants to use the web',
  agent: 'Wants to start another agent',
  plan: 'Wants to update its plan',
  ask: 'Wants to ask a question',
  service: 'Wants to use a service',
  other: 'Wants to use a tool',
}

/** What an agent asks permission for, in words. */
export const wishOf = (tool: string | null): string => WISHES[tool ? toolKind(tool) : 'other']

/** The input in one line: its command, file or address if it has one. Nobody reads JSON in a sentence. */
export function wishInWords(tool: string | null, input: string): string {
  const wish = `It w${wishOf(tool).slice(1)}`
  const about = gistOf(input)
  return about ? `${wish}: ${about}` : `${wish}${tool ? ` (${tool})` : ''}`
}

const GISTS = ['command', 'cmd', 'file_path', 'path', 'url', 'query', 'pattern']

function gistOf(input: string): string | undefined {
  let fields: unknown
  try {
    fields = JSON.parse(input)
  } catch {
    return undefined
  }
  if (typeof fields !== 'object' || fields === null) return undefined
  const found = GISTS.map(name => (fields as Record<string, unknown>)[name]).find(value => value !== undefined)
  if (Array.isArray(found)) return found.join(' ')
  return typeof found === 'string' ? found : undefined
}

/** What a rule allows, in words. */
export const allowanceOf = (tool: string): string => {
  const wish = wishOf(tool).replace('Wants to ', '').replace('its plan', 'the plan')
  return `${wish[0]!.toUpperCase()}${wish.slice(1)}`
}
