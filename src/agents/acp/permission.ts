import { type Json, list, object, string, text } from '../json.ts'
import type { Preset, Tool } from '../presets.ts'

/** Whether a preset allows what an agent asks for. If that is not certain, it is not allowed. */
export function isAllowed(preset: Preset, servers: readonly string[], call: Json): boolean {
  if (preset.name === 'full') return true
  const may = (tool: Tool) => preset.tools.includes(tool)
  switch (call.kind) {
    case 'read':
      return may('Read')
    case 'search':
      return may('Grep')
    case 'think':
      return true
    case 'edit':
      return may('Write') || (may('Edit') && changesOnly(call))
    case 'delete':
    case 'move':
      return may('Write')
    case 'execute':
      return may('Bash') && (preset.commands === null || isCommand(commandIn(call), preset.commands))
    case 'fetch':
      return may('WebFetch')
    default:
      return isOurs(servers, call)
  }
}

/** Whether every file it would write exists already. */
function changesOnly(call: Json): boolean {
  const diffs = list(call.content)
    .map(each => object(each) ?? {})
    .filter(each => each.type === 'diff')
  return diffs.length > 0 && diffs.every(each => text(each.oldText) !== '')
}

/** Whether it is a tool of a server that was given to this session, not one that the repository brought along. */
function isOurs(servers: readonly string[], call: Json): boolean {
  const name = text(call.name)
  return servers.some(server => name.startsWith(`mcp__${server}__`) || name.startsWith(`mcp_${server}_`))
}

function commandIn(call: Json): string | null {
  const { command } = object(call.rawInput) ?? {}
  return string(command)
}

/** Characters that mean something to a shell. A line with one of them could contain a second command. */
const MORE_THAN_WORDS = /[;&|<>$`\\(){}[\]*?~!#'"\n\r]/
/** `git log --output=file` writes a file, although `git log` only reads. Git accepts any abbreviation of the option. */
const WRITES = /^--?o/

function isCommand(line: string | null, starts: readonly string[]): boolean {
  if (line === null || MORE_THAN_WORDS.test(line)) return false
  const words = line.trim().split(/\s+/)
  if (words[0] === 'git' && words.some(word => WRITES.test(word))) return false
  const plain = words.join(' ')
  return starts.some(start => plain === start || plain.startsWith(`${start} `))
}
