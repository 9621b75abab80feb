import type { Ask } from '../src/operations/aliases/index.ts'
import { ALIAS_SETS, ALIASES, type AliasSet } from '../src/operations/aliases/index.ts'
import { outsidePrompts } from '../src/server/mcp/prompts.ts'
import { outsideResources } from '../src/server/mcp/resources.ts'
import { cell, code, table } from './markdown.ts'
import { fieldTable, schemaOf } from './schema-tables.ts'

const TITLES: Record<AliasSet, string> = { missions: 'Missions', workers: 'Workers', workflows: 'Workflows' }

/** Whoever only lists what is offered asks for nothing. */
const nobody: Ask = () => Promise.reject(new Error('nothing is asked for here'))

/** What the server offers to MCP clients at `/mcp`. */
export function toolsPage(): string {
  return [
    'What MCP clients find at `/mcp`; [the guide](../mcp.md) says how to point one there. `/mcp?tools=missions` offers only that set of tools.',
    ...ALIAS_SETS.map(
      set =>
        `## ${TITLES[set]}\n\n${ALIASES.filter(alias => alias.set === set)
          .map(tool)
          .join('\n\n')}`,
    ),
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

function tool({ name, summary, input, readOnly }: (typeof ALIASES)[number]): string {
  const fields = fieldTable(schemaOf(input, 'input'), true)
  const heading = `### ${name}\n\n${summary}${readOnly ? ' It changes nothing.' : ''}`
  return fields ? `${heading}\n\n${fields}` : heading
}
