import type { AgentEvent } from '../contract.ts'
import { patchesOf } from '../edits.ts'
import { type Json, list, object, string, text } from '../json.ts'

/** These come in full once they are done. */
const WORDS = new Set(['userMessage', 'agentMessage', 'reasoning', 'plan', 'contextCompaction'])

export function itemStarted(item: Json): AgentEvent[] | undefined {
  if (WORDS.has(text(item.type))) return []
  const call = callOf(item)
  return call && [{ type: 'tool_call', id: text(item.id), ...call, ...patchesOf(item.changes) }]
}

export function itemDone(item: Json): AgentEvent[] | undefined {
  switch (item.type) {
    case 'userMessage':
      return [{ type: 'said', id: string(item.clientId) ?? text(item.id), text: textsOf(item.content) }]
    case 'agentMessage':
    case 'plan':
      return [{ type: 'text', text: text(item.text) }]
    case 'reasoning':
      return [{ type: 'thinking', text: [...list(item.summary), ...list(item.content)].map(text).join('\n') }]
    default:
      return toolDone(item)
  }
}

function callOf(item: Json): { name: string; input: unknown } | undefined {
  switch (item.type) {
    case 'commandExecution':
      return { name: 'shell', input: { command: item.command, cwd: item.cwd } }
    case 'fileChange':
      return { name: 'apply_patch', input: { changes: item.changes } }
    case 'mcpToolCall':
      return { name: `mcp__${text(item.server)}__${text(item.tool)}`, input: item.arguments ?? null }
    case 'webSearch':
      return { name: 'web_search', input: { query: item.query, action: item.action } }
    default:
      return undefined
  }
}

function toolDone(item: Json): AgentEvent[] | undefined {
  const call = callOf(item)
  if (!call) return undefined
  const id = text(item.id)
  const done: AgentEvent = { type: 'tool_result', id, output: outputOf(item), failed: isFailed(item) }
  return item.status === 'declined'
    ? [{ type: 'permission', id, call: id, tool: call.name, input: null, denied: true }, done]
    : [done]
}

/** The client calls a command `completed` whatever its exit code was. */
function isFailed({ status, exitCode }: Json): boolean {
  return status === 'failed' || status === 'declined' || (typeof exitCode === 'number' && exitCode !== 0)
}

function outputOf(item: Json): string {
  if (item.type === 'commandExecution') return text(item.aggregatedOutput)
  if (item.type === 'fileChange') return text(item.status)
  if (item.type !== 'mcpToolCall') return ''
  const error = object(item.error)
  return error ? text(error.message) : textsOf(object(item.result)?.content)
}

function textsOf(content: unknown): string {
  return list(content)
    .map(part => string(object(part)?.text) ?? JSON.stringify(part))
    .join('\n')
}
