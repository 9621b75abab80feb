import { basename } from 'node:path'
import { acpAgent } from '../../src/agents/acp/adapter.ts'
import type { Capabilities } from '../../src/agents/contract.ts'
import { CustomDeclaration, customAgent } from '../../src/agents/custom/adapter.ts'
import { AGENTS, enginesOf } from '../../src/agents/index.ts'
import { drivenName } from '../../src/domain/records/project.ts'
import { CLAUDE_ACP } from './acp-agents.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import { LINER } from './stand-ins.ts'

/** The part of vitest's results that is read here. */
export interface Results {
  testResults: { name: string; assertionResults: { title: string; status: string }[] }[]
}

interface Client {
  name: string
  can: Capabilities
  /** Matches the names of its test files. */
  files: RegExp
  /** A stand-in proves it, because we have no copy of the client. */
  standIn: boolean
}

const DECLARED = [
  { name: 'acp', can: acpAgent(CLAUDE_ACP).can },
  { name: 'custom', can: customAgent(CustomDeclaration.parse(LINER)).can },
]

const BUILT_IN = enginesOf(AGENTS).map(({ agent: { name, can }, engine }) => ({ name: drivenName(name, engine), can }))

const FILES: Record<string, RegExp> = {
  // Messages, holds and forks are tested with the first client.
  claude: /^(claude(?!-sdk)|idle|talk|holds|fork)/,
  'claude (sdk)': /^claude-sdk/,
  custom: /^(custom|declared|measures)/,
  agy: /^(custom|declared)/,
}

/** The columns. The shell is not a client, so there is nothing to compare. */
const CLIENTS: readonly Client[] = [...BUILT_IN, ...DECLARED]
  .filter(({ name }) => name !== 'shell')
  .map(({ name, can }) => ({
    name,
    can,
    files: FILES[name] ?? new RegExp(`^${name}`),
    standIn: name === 'agy' || name === 'custom',
  }))

/**
 * Two clients share their files. Titles of one contain its name, and titles of the other do not begin with that name.
 */
const isOf = ({ name, files }: Client, file: string, title: string): boolean =>
  files.test(basename(file)) && (name === 'agy' ? title.includes('agy') : !title.startsWith('agy'))

/** A table of clients and scenarios, from the results of the tests and the capabilities of the adapters. */
export function scenarioTable({ testResults }: Results): string {
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(each => ({ ...each, file: name })),
  )
  const cell = (scenario: Scenario, client: Client): string => {
    const showing = tests.filter(({ file, title }) => isOf(client, file, title) && scenario.shownBy.test(title))
    if (showing.some(({ status }) => status === 'failed')) return 'FAILED'
    if (showing.some(({ status }) => status === 'passed')) return client.standIn ? 'stand-in' : 'shown'
    if (showing.length) return 'skipped'
    if (scenario.offered?.(client.can) === false) return 'not offered'
    return client.standIn && scenario.ofModel ? 'no model' : '—'
  }
  const rows = SCENARIOS.map(scenario => [scenario.name, ...CLIENTS.map(client => cell(scenario, client))])
  return [
    ...lined([['', ...CLIENTS.map(({ name }) => name)], ...rows]),
    '',
    'shown: by the real client and the scripted model. stand-in: by a program in its place, which asks no model.',
    'not offered: not offered by this client, as fleet agents says. —: no test shows it yet.',
    'Claude over ACP copies a conversation only in the folder where it began: a new member with one fails and says so.',
    'Reaching out: at its first start OpenCode asks a package registry once, here one on loopback where nobody answers.',
  ].join('\n')
}

function lined(rows: string[][]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  return rows.map(row =>
    row
      .map((text, column) => text.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}
