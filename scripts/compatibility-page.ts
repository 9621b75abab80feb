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
    ['theirs', 'here', 'ours', 'note'],
    names.map(({ name, fate, ours, why = '' }) => [code(name), FATES[fate], ours ? code(ours) : '', cell(why)]),
  )

const FATES = {
  kept: 'works as theirs',
  changed: 'name kept, shape changed',
  replaced: 'replaced by',
  dropped: 'not offered',
}

const TOKEN =
  'Clients of these tools send no token, and the fleet does nothing without one: add the header `Authorization: Bearer …` with the [token of the home](mcp.md). `fleet mcp`, which replaces a server over standard input, reads the token itself.'

/** What applies to all names of a tool. */
const OF_ALL: Partial<Record<KnownTool, string>> = {
  'claude-devfleet':
    'The routes are those of our own API, so an answer has our shape; if its clients write a request differently, that is accepted too. Errors are `{error: {code, message, try}}` instead of `{detail}`. A mission that names no agent uses that of its project or the `default_agent`; if there is neither, its tools use `claude`.',
  codefleet:
    'These tools exist only for its clients: they accept what those send and answer in the words of codefleet (`pending`, `running`, `succeeded`, `failed`, `cancelled`, `timed_out`). A worker that asks a person is `running`, and `error_message` has the question. Errors are MCP errors with a sentence, instead of `{error, details}`.',
  'claude-fleet':
    'Its addresses are there beside ours, with the shapes that its clients send and read, and errors are `{error, hint?}`. A team must exist before anybody signs in to it (`fleet team create`). What a body says about who asks (`from`, `senderHandle`, `readerHandle` and so on) must be true of the token: a forged one is refused. Its WebSocket has the same address, `/ws`, and the same words for `ping` and `pong`. It needs a token or a ticket, and `subscribe` takes `topics` instead of a `chatId`: see [follow the fleet live](guides/live.md).',
}

export function compatibilityPage(): string {
  return [
    'Names that people know from other tools, and what became of each here. **Works as theirs**: it accepts what clients of that tool send and answers what they read. **Name kept, shape changed**: it does the same here, and the note says what to write or read differently. A test sends to every one of these names what those clients send.',
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
