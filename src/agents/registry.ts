import { statSync } from 'node:fs'
import { join } from 'node:path'
import { NotFound, type Refusal } from '../domain/errors.ts'
import type { Engine } from '../domain/records/project.ts'
import type { Agent } from './contract.ts'
import { DECLARED_FILE, type Declared, readDeclared } from './declared.ts'
import { type KnownModels, MODELS_FILE, modelsIn } from './models.ts'
import { PRESETS, type Preset } from './presets.ts'
import { undeclared } from './undeclared.ts'

/** All agents: built in, declared in the home, and from plugins. */
export interface Agents {
  readonly all: readonly Agent[]
  /** The built-in and declared agents, without those of plugins. */
  readonly ofPeople: readonly Agent[]
  /** Why the declared agents are missing; null: nothing is wrong. */
  readonly fault: Refusal | null
  readonly models: KnownModels
  /** The agent with this name. Refuses if there is none. */
  named(name: string): Agent
  /** The agent of a session. The session continues even if the declaration of its agent is gone. */
  ofSession(name: string): Agent
  /** The agent as a session drives it. */
  driven(session: { agent: string; engine: Engine }): Agent
}

export interface ToolPresetOffer extends Preset {
  /** The agents that can run under it, through their client or the sandbox. */
  agents: string[]
  sandboxed: string[]
}

/** The declared agents are read again whenever their file has changed. */
export function agentsIn(home: string, builtIn: readonly Agent[], ofPlugins: () => readonly Agent[]): Agents {
  const taken = builtIn.map(agent => agent.name)
  const look = declaredIn(join(home, DECLARED_FILE), taken)
  const ofPeople = () => [...builtIn, ...look().agents]
  const all = () => {
    const known = ofPeople()
    return [...known, ...ofPlugins().filter(({ name }) => known.every(agent => agent.name !== name))]
  }

  const ofSession = (name: string): Agent => all().find(agent => agent.name === name) ?? undeclared(name)

  return {
    models: modelsIn(join(home, MODELS_FILE)),
    get all() {
      return all()
    },
    get ofPeople() {
      return ofPeople()
    },
    get fault() {
      return look().fault
    },
    named(name) {
      const found = all().find(agent => agent.name === name)
      if (found) return found
      throw (
        look().fault ??
        new NotFound('agent', name, {
          try: `Use one of: ${all()
            .map(agent => agent.name)
            .join(', ')}.`,
        })
      )
    },
    driven: ({ agent, engine }) => ofSession(agent).engines?.[engine] ?? ofSession(agent),
    ofSession,
  }
}

function declaredIn(file: string, taken: readonly string[]): () => Declared {
  let seen = ''
  let declared: Declared = { agents: [], fault: null }
  return () => {
    const now = stampOf(file)
    if (now !== seen) declared = readDeclared(file, taken)
    seen = now
    return declared
  }
}

function stampOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : ''
}

/** Each agent, and after it the other ways to drive it. */
export const enginesOf = (agents: readonly Agent[]): { agent: Agent; engine: Engine }[] =>
  agents.flatMap(agent => [
    { agent, engine: 'cli' as const },
    ...(agent.engines?.sdk ? [{ agent: agent.engines.sdk, engine: 'sdk' as const }] : []),
  ])

export function toolPresets(agents: readonly Agent[]): ToolPresetOffer[] {
  return Object.values(PRESETS).map(preset => ({
    ...preset,
    agents: agents.filter(({ can }) => can.presets.includes(preset.name)).map(({ name }) => name),
    sandboxed: agents.filter(({ can }) => can.sandboxed.includes(preset.name)).map(({ name }) => name),
  }))
}
