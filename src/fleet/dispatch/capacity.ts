import { statfsSync } from 'node:fs'
import { doubtAbout } from '../../agents/index.ts'
import type { SettingName, Settings } from '../../config/settings.ts'
import { isInsisted } from '../../config/sources.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Defaults } from '../../domain/rules/effective.ts'
import type { FullSlot } from '../../domain/rules/waiting.ts'
import type { Fleet } from '../fleet.ts'
import { all } from '../records.ts'

type Slot = Pick<Session, 'project_id' | 'agent'>

/**
 * Which limit keeps one more session from starting beside the live ones. A folder without worktrees takes one at a
 * time.
 */
export function fullSlot(fleet: Fleet, live: readonly Slot[], agent: string, project: Project): FullSlot | null {
  const { maxConcurrent, maxPerAgent } = fleet.settings
  if (live.length >= maxConcurrent) return 'fleet'
  const perProject = project.worktree === 'none' ? 1 : project.max_concurrent
  if (perProject && live.filter(s => s.project_id === project.id).length >= perProject) return 'project'
  const perAgent = maxPerAgent[agent]
  if (perAgent && live.filter(s => s.agent === agent).length >= perAgent) return 'agent'
  return null
}

/** The settings that missions inherit. */
const INHERITED = {
  agent: 'defaultAgent',
  model: 'defaultModel',
  engine: 'claudeEngine',
  timeoutSeconds: 'defaultTimeout',
  maxRetries: 'maxRetries',
  contextLimit: 'contextLimit',
} as const satisfies Record<keyof Omit<Defaults, 'insisted'>, SettingName>
type Inherited = keyof typeof INHERITED

export function defaultsOf({ settings, configuration: { origins } }: Fleet): Defaults {
  const fields = Object.keys(INHERITED) as Inherited[]
  const values = Object.fromEntries(fields.map(field => [field, settings[INHERITED[field]]]))
  return {
    ...(values as { [F in Inherited]: Settings[(typeof INHERITED)[F]] }),
    insisted: new Set(fields.filter(field => isInsisted(origins[INHERITED[field]]))),
  }
}

/**
 * Why an agent may not know a model by this name. The name is passed on all the same: clients learn faster than we do.
 */
export function modelDoubt({ agents }: Fleet, agent: string, model: string | null): string | undefined {
  const found = agents.all.find(({ name }) => name === agent)
  return found && doubtAbout(agents.models.of(found), agent, model)
}

/** Nothing starts on a nearly full disk, because an agent that cannot write loses its work. */
export const diskIsFull = (fleet: Fleet): boolean => freeDisk(fleet) < fleet.settings.minFreeDisk

/** The free bytes of the disk that a home is on. */
export function freeDisk({ home }: Fleet): number {
  const { bavail, bsize } = statfsSync(home.path)
  return bavail * bsize
}

export async function liveSessions(fleet: Fleet): Promise<Session[]> {
  return (await Array.fromAsync(all(fleet, 'sessions', 'live'))).map(stored => stored.value)
}
