import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command, Option } from 'commander'
import * as z from 'zod'
import { AGENTS } from '../src/agents/index.ts'
import { EXIT_HELP } from '../src/cli/exit.ts'
import { everyCommand, makeProgram } from '../src/cli/program.ts'
import { valueInWords } from '../src/config/kinds.ts'
import { KNOWN_NAMES } from '../src/config/known-names/index.ts'
import { SECTIONS, SETTINGS, type SettingName } from '../src/config/settings.ts'
import { keyOf, unitOf } from '../src/config/sources.ts'
import { EVENT_KINDS, Event } from '../src/domain/records/event.ts'
import { AgentEvent, Edit, TranscriptPlace } from '../src/domain/records/transcript.ts'
import { WorkflowFile } from '../src/domain/records/workflow.ts'
import { FAMILIES } from '../src/fleet/metrics/families.ts'
import { OPERATIONS } from '../src/operations/index.ts'
import type { Operation } from '../src/operations/operation.ts'
import { agentsPage } from './agents-page.ts'
import { badges } from './badges.ts'
import { compatibilityPage, knownNamesTable } from './compatibility-page.ts'
import { livePage } from './live-page.ts'
import { cell, code, table } from './markdown.ts'
import { permissionsPage } from './permissions-page.ts'
import { fieldTable, schemaOf } from './schema-tables.ts'
import { toolsPage } from './tools-page.ts'

/** The pages that are made from the code, by path. The same code always gives the same bytes. */
export function referencePages(): Record<string, string> {
  return {
    'docs/agents.md': page('What each agent can do', agentsPage(AGENTS)),
    'docs/compatibility.md': page('Names from other tools', compatibilityPage()),
    'docs/reference/cli.md': page('The fleet command', cli()),
    'docs/reference/operations.md': page('Operations', operations()),
    'docs/reference/mcp-tools.md': page('MCP tools', toolsPage()),
    'docs/reference/permissions.md': page('Permissions', permissionsPage()),
    'docs/reference/settings.md': page('Settings', settings()),
    'docs/reference/events.md': page('Events', events()),
    'docs/reference/live.md': page('Live topics', livePage()),
    'docs/reference/metrics.md': page('Measurements', metrics()),
    'docs/reference/transcript.md': page('Transcript events', transcript()),
    'docs/reference/workflow.schema.json': `${JSON.stringify(z.toJSONSchema(WorkflowFile, { io: 'input' }), null, 2)}\n`,
    ...badges(JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))),
  }
}

const page = (title: string, body: string): string =>
  `<!-- Made from the code by npm run docs; changes made here are lost. -->\n# ${title}\n\n${body.trim()}\n`

// The terminal

function cli(): string {
  const program = makeProgram()
  // A command that only groups others has no options of its own.
  const leaves = everyCommand(program).filter(
    command =>
      command !== program && (!command.commands.length || command.options.length || command.registeredArguments.length),
  )
  return [
    program.description(),
    'You can shorten an id to any unambiguous beginning. Every command has these options:',
    optionTable(program.options),
    `\`\`\`text\n${EXIT_HELP}\n\`\`\``,
    ...leaves.map(command),
  ].join('\n\n')
}

function command(command: Command): string {
  const usage = `${pathOf(command)} ${command.usage()}`
    .replace('[options] ', command.options.length ? '[options] ' : '')
    .trim()
  const aliases = [command.parent!, command].flatMap(each => each.aliases())
  const names = aliases.length ? `Also: ${aliases.map(code).join(', ')}.` : ''
  const given = command.registeredArguments.map(argument => [code(argument.name()), cell(argument.description)])
  return [
    `## ${pathOf(command)}`,
    sentence(command.description()),
    `\`\`\`text\n${usage}\n\`\`\``,
    names,
    table(['argument', 'meaning'], given),
    optionTable(command.options),
  ]
    .filter(Boolean)
    .join('\n\n')
}

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`

const optionTable = (options: readonly Option[]): string =>
  table(
    ['option', 'meaning'],
    options
      .filter(option => !option.hidden)
      .map(option => {
        const choices = option.argChoices ? ` (${option.argChoices.join(', ')})` : ''
        const fallback = option.defaultValue === undefined ? '' : ` (default: ${option.defaultValue})`
        return [code(option.flags), cell(option.description + choices + fallback)]
      }),
  )

// The operations

function operations(): string {
  return [
    "All operations. Each is a route of the server, and `fleet call <operation> --json '{…}'` in the terminal. Fields named in the path come from the path; the others are in the query of a GET or DELETE, or in a JSON body.",
    table(
      ['operation', 'route', 'what it does'],
      OPERATIONS.map(({ name, http, summary }) => [`[${name}](#${name})`, code(http), cell(summary)]),
    ),
    ...OPERATIONS.map(operation),
  ].join('\n\n')
}

function operation(operation: Operation): string {
  const input = schemaOf(operation.input, 'input')
  const output = schemaOf(operation.output, 'output')
  const notes = [
    operation.needsFleet && 'It needs a running server; the terminal starts one.',
    operation.agentMay && 'An agent may use it with the token of its own session.',
  ].filter(text => typeof text === 'string')
  const answers = operation.kind === 'stream' ? 'A stream of items; each has:' : 'Answers with:'
  return [
    `## ${operation.name}`,
    `${operation.summary}. ${code(operation.http)}`,
    notes.join(' '),
    fieldTable(input, true),
    output.properties ? `${answers}\n\n${fieldTable(output, false)}` : '',
  ]
    .filter(Boolean)
    .join('\n\n')
}

// Settings and events

function transcript(): string {
  return [
    'The output of an agent is stored as it was printed and read as events, in the same form for every client: `fleet logs`, `GET /api/sessions/:session_id/transcript` for a page of it and `GET /api/sessions/:session_id/stream` live. In code, `TranscriptEvent` of `src/domain/records/transcript.ts` is their type. Each has its position:',
    fieldTable(schemaOf(TranscriptPlace, 'output'), false),
    'A cursor is a position between two events. `read_transcript` with `last` starts at the end; with `before` set to the `start` of that page it continues upwards, and `stream_session` continues from its `cursor` with new events. The last item of such a stream is of the kind `end` and has the `outcome` of the session.',
    'An edit in any of these events is:',
    fieldTable(schemaOf(Edit, 'output'), false),
    ...AgentEvent.options.map(option => {
      const { type, ...properties } = schemaOf(option, 'output').properties!
      return `## ${option.shape.type.value}\n\n${option.description}.\n\n${fieldTable({ properties }, false)}`
    }),
  ].join('\n\n')
}

function settings(): string {
  const names = Object.keys(SETTINGS) as SettingName[]
  const row = (name: SettingName): string[] => {
    const { variable, summary, fallback, form, none = '', project, takes = 'at once' } = SETTINGS[name]
    const choices = form.kind === 'choice' ? form.choices.map(({ value, label }) => `${code(value)} (${label})`) : []
    const values = choices.length ? choices.join(', ') : (unitOf(name) ?? '')
    const shown = valueInWords(fallback, form)
    const usual = form.kind === 'choice' ? code(String(fallback)) : shown || none
    return [code(keyOf(name)), code(variable), cell(summary), values, usual, project ? code(project) : '', takes]
  }
  const titles = ['key', 'variable', 'meaning', 'values', 'default', 'of a project', 'takes effect']
  return [
    'Use the key in `fleet.toml` in the home, in `fleet config set key=value` and in `fleet up --set key=value`, and the variable in the environment of the server. See [configuration](../guides/configuration.md) for which of them wins. No setting needs a restart: the last column says when an edit of the file takes effect: at once, for the next session, or with `fleet plugin reload`. `FLEET_HOME` names the home (default: `~/.flotilla`). `STORAGE_BACKEND`, `DATABASE_URL`, `FLEET_STORE`, `FLEET_STORE_FILE`, `POSTGRESQL_SCHEMA` and `POSTGRESQL_POOL_SIZE` say [where the records are](../guides/postgresql.md#the-address).',
    'A number is in the unit that the column of values names. On a command line and in a variable you can write the unit: `15min`, `2h`, `512MB`, `20GB`.',
    ...SECTIONS.flatMap(section => [
      `## ${section}`,
      table(titles, names.filter(name => SETTINGS[name].section === section).map(row)),
    ]),
    '## Names from other tools',
    'Variables and keys of [other tools](../compatibility.md), and what became of each here.',
    knownNamesTable(KNOWN_NAMES.filter(({ kind }) => kind === 'variable' || kind === 'key')),
  ].join('\n\n')
}

function events(): string {
  return [
    'Events in the order they happened: `fleet events -f`, `GET /api/events`, and live at `GET /api/events/stream` or as [topics](live.md) of a WebSocket. An event is written in the same commit as its change.',
    fieldTable(schemaOf(Event.extend({ kind: z.string().describe('one of those below') }), 'output'), false),
    '## Kinds',
    EVENT_KINDS.map(kind => `- ${code(kind)}`).join('\n'),
  ].join('\n\n')
}

function metrics(): string {
  const rows = Object.entries(FAMILIES).map(([name, { type, labels, from, help }]) => [
    code(name),
    type,
    labels.map(code).join(' '),
    from,
    cell(`${help}.`),
  ])
  return [
    'What `GET /metrics` (the text format of Prometheus), `GET /metrics/json` and `fleet metrics` show. [The guide](../guides/monitoring.md) says how to use it.',
    'The column *from* says where a value comes from. `now`: it is read from the store or the machine during the scrape. `stored`: it is counted in the store and goes on after a restart. `process`: it begins at 0 with each server; `rate()` and `increase()` see that as a restart, and `process_start_time_seconds` says when it was.',
    'No label is a title, a name of a project or an address. `agent` is a name of [an agent](../agents.md), built in or declared in the home; `operation` a name of [an operation](operations.md), or `page`, `mcp`, `other`, or `unknown` for every address that does not exist. A histogram has the series `_bucket`, `_sum` and `_count`.',
    table(['name', 'type', 'labels', 'from', 'meaning'], rows),
    'Beside these there are the usual measurements of a Node process by prom-client: `process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_open_fds`, `process_start_time_seconds`, `nodejs_heap_size_used_bytes` and others. `fleet_event_loop_lag_seconds` is measured only while somebody scrapes at least every five minutes, because it wakes the process. Each scrape begins a new measurement, so two scrapers share it.',
  ].join('\n\n')
}
