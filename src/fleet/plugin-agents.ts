import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PLUGIN_AGENTS_FILE } from '../agents/declared.ts'
import { NotAllowed } from '../domain/errors.ts'
import type { Manifest } from '../plugins/contract.ts'
import type { Fleet } from './fleet.ts'

type Declarations = Manifest['agents']

/** Two agents of one name could not be told apart. */
export function requireFreeNames(fleet: Fleet, agents: Declarations, others: Declarations): void {
  const taken = [...fleet.agents.ofPeople.map(agent => agent.name), ...others.map(agent => agent.name)]
  const twice = agents.find(({ name }, index) => [...taken, ...agents.slice(0, index).map(a => a.name)].includes(name))
  if (twice) throw new NotAllowed(`Its agent ${JSON.stringify(twice.name)} has the name of another agent.`)
}

/** Every process of the home reads them from there, as it does those that people declare. */
export function keepPluginAgents(home: string, agents: Declarations): void {
  const file = join(home, PLUGIN_AGENTS_FILE)
  const text = `${JSON.stringify({ agents }, null, 2)}\n`
  if (textOf(file) === (agents.length ? text : undefined)) return
  if (agents.length === 0) {
    rmSync(file, { force: true })
    return
  }
  writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 })
  renameSync(`${file}.${process.pid}`, file)
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
