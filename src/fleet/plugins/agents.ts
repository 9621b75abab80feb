import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NotAllowed } from '../../domain/errors.ts'
import { textOf as plainTextOf } from '../../platform/whole-files.ts'
import { type Brought, PLUGIN_AGENTS_FILE } from '../../plugins/adapters.ts'
import type { Manifest } from '../../plugins/contract.ts'
import type { Fleet } from '../fleet.ts'

type Declarations = Manifest['agents']

/** A plugin that was read, with what it brings. */
export interface Bringer {
  plugin: string
  file: string
  reading: string
  agents: Declarations
}

/** Two agents of one name could not be told apart. */
export function requireFreeNames(fleet: Fleet, agents: Declarations, others: readonly Bringer[]): void {
  const taken = [...fleet.agents.ofPeople, ...others.flatMap(other => other.agents)].map(agent => agent.name)
  const twice = agents.find(({ name }, index) => [...taken, ...agents.slice(0, index).map(a => a.name)].includes(name))
  if (twice) throw new NotAllowed(`Its agent ${JSON.stringify(twice.name)} has the name of another agent.`)
}

/** Writes the agents of plugins to a file, from which every process of the home reads them. */
export function keepPluginAgents(home: string, bringers: readonly Bringer[]): void {
  const file = join(home, PLUGIN_AGENTS_FILE)
  const brought: Brought = {
    agents: bringers.flatMap(({ agents }) => agents.filter(agent => agent.kind !== 'code')),
    code: bringers.flatMap(({ agents, ...of }) =>
      agents.flatMap(agent => (agent.kind === 'code' ? [{ ...of, agent }] : [])),
    ),
  }
  const isEmpty = brought.agents.length + brought.code.length === 0
  const text = `${JSON.stringify(brought, null, 2)}\n`
  if (textOf(file) === (isEmpty ? undefined : text)) return
  if (isEmpty) {
    rmSync(file, { force: true })
    return
  }
  writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 })
  renameSync(`${file}.${process.pid}`, file)
}

function textOf(file: string): string | undefined {
  try {
    return plainTextOf(file)
  } catch {
    return undefined
  }
}
