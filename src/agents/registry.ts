import { statSync } from 'node:fs'
import { join } from 'node:path'
import { NotFound, type Refusal } from '../domain/errors.ts'
import type { Engine } from '../domain/records/project.ts'
import { PLUGIN_AGENTS_FILE, PluginAgents } from '../plugins/adapters.ts'
import type { Agent } from './contract.ts'
import { DECLARED_FILE, type Declared, readDeclared } from './declared.ts'
import { type KnownModels, MODELS_FILE, modelsIn } from './models.ts'
import { PRESETS, type Preset } from './presets.ts'
import { undeclared } from './undeclared.ts'

/** The agents there are: those built in, those declared in the home, and those of plugins. */
export interface Agents {
  readonly all: readonly Agent[]
  /** Those built in and those people declare, without those of plugins. */
  readonly ofPeople: readonly Agent[]
  readonly ofPlugins: PluginAgents
  /** Why none of the declared agents is among them; null: nothing is wrong. */
  readonly fault: Refusal | null
  readonly models: KnownModels
  /** The agent with this name; refuses when there is none. */
  named(name: string): Agent
  /** The agent of a session, which goes on also when its declaration is gone. */
  ofSession(name: string): Agent
  /** The agent as a session drives it. */
  driven(session: { agent: string; engine: Engine }): Agent
}

export interface ToolPresetOffer extends Preset {
  /** Which agents can be held to it, by their client and by the sandbox. */
  agents: string[]
  sandboxed: string[]
}

/** The declared ones are read again whenever their file has changed. */
export function agentsIn(home: string, builtIn: readonly Agent[]): Agents {
  const taken = builtIn.map(agent => agent.name)
  const look = declaredIn(join(home, DECLARED_FILE), taken)
  const ofPlugins = new PluginAgents(join(home, PLUGIN_AGENTS_FILE))
  const ofPeople = () => [...builtIn, ...look().agents]
  const all = () => {
    const known = ofPeople()
    return [...known, ...ofPlugins.all.filter(({ name }) => known.every(agent => agent.name !== name))]
  }

  const ofSession = (name: string): Agent => all().find(agent => agent.name === name) ?? undeclared(name)

  return {
    ofPlugins,
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
