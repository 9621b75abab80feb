import {
  KNOWN_NAMES,
  KNOWN_TOOLS,
  type KnownName,
  type KnownTool,
  NAME_KINDS,
  type NameKind,
} from '../src/config/known-names/index.ts'
import { cell, code, table } from './markdown.ts'

export const knownNamesTable = (names: readonly KnownName[]): string =>
  table(
    ['theirs', 'here', 'ours', 'remark'],
    names.map(({ name, fate, ours, why = '' }) => [code(name), FATES[fate], ours ? code(ours) : '', cell(why)]),
  )

const FATES = {
  kept: 'works as theirs',
  changed: 'name kept, shape changed',
  replaced: 'replaced by',
  dropped: 'not offered',
  'not yet': 'not offered yet',
}

const TOKEN =
  'Clients of these tools send no token, and nothing is done here for whoever sends none: give yours the header `Authorization: Bearer …` with the [token of the home](mcp.md). `fleet mcp`, which takes the place of a server over standard input, reads it itself.'

/** What holds for all names of a tool. */
const OF_ALL: Partial<Record<KnownTool, string>> = {
  'claude-devfleet':
    'The routes are those of our own API, so an answer has our shape; where its clients write a request in another way, that is taken too. Errors are `{error: {code, message, try}}` in place of `{detail}`. A mission that names no agent is for that of its project or the `default_agent`; where its tools find neither, for `claude`.',
  codefleet:
    'These tools are there for its clients only: they take what those send and answer in words of codefleet (`pending`, `running`, `succeeded`, `failed`, `cancelled`, `timed_out`). A worker that asks a person is `running`, and `error_message` says what it asks. Errors are errors of MCP with a sentence, in place of `{error, details}`.',
}

export function compatibilityPage(): string {
  return [
    'Names that people know from other tools, and what became of each here. **Works as theirs**: what clients of that tool send is taken, and what they read is answered. **Name kept, shape changed**: it does the same here, and the remark says what to write or read in another way. A test sends what those clients send to every one of these names.',
    TOKEN,
    ...KNOWN_TOOLS.flatMap(tool => {
      const names = KNOWN_NAMES.filter(({ from }) => from === tool)
      const kinds = (Object.keys(NAME_KINDS) as NameKind[]).filter(kind => names.some(each => each.kind === kind))
      return [
        `## ${tool}`,
        ...[OF_ALL[tool] ?? []].flat(),
        ...kinds.flatMap(kind => [
          `### ${NAME_KINDS[kind]}`,
          knownNamesTable(names.filter(each => each.kind === kind)),
        ]),
      ]
    }),
  ].join('\n\n')
}
