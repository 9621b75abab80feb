import { renameSync, statSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import { textOf } from '../platform/whole-files.ts'
import type { Agent, Model } from './contract.ts'

/** A file in the home with the models that clients listed, and when. Anyone may delete it. */
export const MODELS_FILE = 'models.json'

const Told = z.record(z.string(), z.object({ asked_at: z.string(), names: z.array(z.string().max(200)).max(1000) }))
type Told = z.infer<typeof Told>
type Variables = Readonly<Record<string, string | undefined>>

/** The models that each agent knows by name: built in, declared, or listed by its client. */
export interface KnownModels {
  of(agent: Agent): readonly Model[]
  askedAt(agent: Agent): string | undefined
  /** Asks every client that can list models. Without an answer its list stays as it was. */
  refresh(agents: readonly Agent[], environment: Variables, now: string): Promise<void>
}

export function modelsIn(file: string): KnownModels {
  let seen = ''
  let told: Told = {}

  function look(): Told {
    const found = statSync(file, { throwIfNoEntry: false })
    const now = found ? `${found.mtimeMs} ${found.size} ${found.ino}` : ''
    if (now !== seen) told = read(file)
    seen = now
    return told
  }

  return {
    of(agent) {
      const own = agent.models
      const more = look()[agent.name]?.names.filter(name => !own.some(model => model.name === name)) ?? []
      return [...own, ...more.map(name => ({ name }))]
    },
    askedAt: agent => look()[agent.name]?.asked_at,
    async refresh(agents, environment, now) {
      const answers = await Promise.all(
        agents.map(async agent => {
          const names = await agent.listModels?.(environment).catch(() => undefined)
          return names?.length ? [[agent.name, { asked_at: now, names }] as const] : []
        }),
      )
      const next = { ...look(), ...Object.fromEntries(answers.flat()) }
      const unfinished = `${file}.${process.pid}`
      writeFileSync(unfinished, JSON.stringify(next), { mode: 0o600 })
      renameSync(unfinished, file)
    },
  }
}

/** A broken file counts as empty. It is only a memory, and asking again repairs it. */
function read(file: string): Told {
  try {
    return Told.parse(JSON.parse(textOf(file) ?? ''))
  } catch {
    return {}
  }
}

/** Why a name may not work, for a person; undefined: it is known, or no models of this agent are. */
export function doubtAbout(known: readonly Model[], agent: string, model: string | null): string | undefined {
  if (!model || !known.length || known.some(({ name, alias }) => name === model || alias === model)) return undefined
  return `${JSON.stringify(model)} is not a model that the fleet knows of ${agent}; the name is passed on unchanged. fleet agents --refresh asks the clients again.`
}
