import type { Ask } from '../src/operations/aliases/index.ts'
import { DEFAULT_SETS, INSIDE_SET, type Offered, TOOL_SETS, type ToolSet } from '../src/operations/tool-sets.ts'
import { TOOLS, type ToolDefinition } from '../src/operations/tools.ts'
import { outsidePrompts } from '../src/server/mcp/prompts.ts'
import { outsideResources } from '../src/server/mcp/resources.ts'
import { cell, code, table } from './markdown.ts'
import { fieldTable, schemaOf } from './schema-tables.ts'

/** Listing the tools calls none of them. */
const nobody: Ask = () => Promise.reject(new Error('nothing is asked for here'))

const toolsIn = (set: Offered['set']): readonly ToolDefinition[] => TOOLS.filter(tool => tool.set === set)

/** What the server offers to MCP clients. */
export function toolsPage(): string {
  const sets = Object.keys(TOOL_SETS) as ToolSet[]
  return [
    'What MCP clients find at `/mcp`; [the guide](../mcp.md) explains how to connect one. `/mcp?tools=missions,review` offers only these sets of tools. A client that names none is offered those that are marked.',
    table(
      ['set', 'tools', 'offered to all', 'what for'],
      sets.map(set => [
        toolsIn(set).length ? `[${set}](#${set})` : code(set),
        String(toolsIn(set).length || ''),
        DEFAULT_SETS.includes(set) ? 'yes' : '',
        cell(TOOL_SETS[set]),
      ]),
    ),
    ...sets.filter(set => toolsIn(set).length).map(section),
    `## ${INSIDE_SET}`,
    'What an agent at work finds at `/agent/mcp`. With the token of its session it can name other sets there too, and is offered what a session may ask for.',
    operationTable(INSIDE_SET),
    '## Resources',
    table(
      ['address', 'kind', 'what it is'],
      outsideResources(nobody).map(({ uri, mimeType, summary }) => [code(uri), mimeType, cell(summary)]),
    ),
    '## Prompts',
    table(
      ['prompt', 'arguments', 'what it does'],
      outsidePrompts(nobody).map(({ name, arguments: given, summary }) => [
        code(name),
        given.map(argument => code(argument.name)).join(', '),
        cell(summary),
      ]),
    ),
  ].join('\n\n')
}

/** Tools that every client gets are described in full. For the others, the reference of operations lists the fields. */
const section = (set: ToolSet): string =>
  `## ${set}\n\n${DEFAULT_SETS.includes(set) ? toolsIn(set).map(inFull).join('\n\n') : operationTable(set)}`

const operationTable = (set: Offered['set']): string =>
  table(
    ['tool', 'operation', 'what it does'],
    toolsIn(set).map(({ name, operation, summary }) => [
      code(name),
      operation ? `[${operation.name}](operations.md#${operation.name})` : 'several, by a name of another tool',
      cell(summary),
    ]),
  )

function inFull({ name, summary, input, readOnly }: ToolDefinition): string {
  const fields = fieldTable(schemaOf(input, 'input'), true)
  const heading = `### ${name}\n\n${summary}${readOnly ? ' It changes nothing.' : ''}`
  return fields ? `${heading}\n\n${fields}` : heading
}
