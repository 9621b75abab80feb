import type { Mission } from '../records/mission.ts'
import type { Project } from '../records/project.ts'
import type { Retrying } from '../records/retrying.ts'
import { type DiskShare, diskReason } from './disk.ts'
import { retryingInWords } from './retrying.ts'

/** What keeps a mission from starting, for a person to read and a program to match. */
export interface Reason {
  kind:
    | 'blocked'
    | 'dependencies'
    | 'review'
    | 'paused'
    | 'not_before'
    | 'rate_limit'
    | 'provider_window'
    | 'budget'
    | 'disk'
    | 'slot'
    | 'person'
    | 'member'
    | 'landing'
    | 'children'
    | 'retry'
  on?: string[]
  until?: string
  text: string
}

/** The limit that is reached, if any, according to the live sessions. */
export type FullSlot = 'fleet' | 'project' | 'agent' | 'disk'

export interface World {
  dependencies: readonly Mission[]
  project: Pick<Project, 'name' | 'paused'>
  fleetPaused: boolean
  /** The provider's limit, or a day's budget that is spent. */
  hold: Reason | null
  full: FullSlot | null
  /** What the worktrees of its project use. Null: there is no limit, or nobody has measured them. */
  disk: DiskShare | null
  now: string
}

const isOver = (mission: Mission): boolean => mission.status === 'failed' || mission.status === 'cancelled'
const names = (missions: readonly Mission[]): string => missions.map(m => `${m.title} (${m.id})`).join(', ')

/** A dependency is met when it is done; with start_from `branch` also while its work waits to land. */
export function isMet(mission: Mission, dependency: Mission): boolean {
  if (dependency.status === 'done') return true
  return (
    mission.start_from === 'branch' && ['review', 'landing'].includes(dependency.status) && dependency.branch !== null
  )
}

export const isReady = (mission: Mission, dependencies: readonly Mission[]): boolean =>
  dependencies.length === mission.depends_on.length && dependencies.every(d => isMet(mission, d))

/** What a queued mission waits for; empty means it may start now. */
export function waitsFor(mission: Mission, world: World): Reason[] {
  const gone = mission.depends_on.filter(id => !world.dependencies.some(d => d.id === id))
  if (gone.length) return [{ kind: 'blocked', on: gone, text: `blocked by ${gone.join(', ')}, which no longer exists` }]
  const unmet = world.dependencies.filter(d => !isMet(mission, d))
  const broken = unmet.filter(isOver)
  if (broken.length) return [{ kind: 'blocked', on: broken.map(d => d.id), text: `blocked by ${names(broken)}` }]
  const reviewed = unmet.filter(d => d.status === 'review')
  if (reviewed.length)
    return [{ kind: 'review', on: reviewed.map(d => d.id), text: `waiting for review of ${names(reviewed)}` }]
  if (unmet.length) return [{ kind: 'dependencies', on: unmet.map(d => d.id), text: `waiting for ${names(unmet)}` }]
  if (world.fleetPaused) return [{ kind: 'paused', text: 'the fleet is paused' }]
  if (world.project.paused) return [{ kind: 'paused', text: `project ${world.project.name} is paused` }]
  if (mission.not_before && mission.not_before > world.now) {
    return [{ kind: 'not_before', until: mission.not_before, text: `not before ${mission.not_before}` }]
  }
  if (world.hold) return [world.hold]
  const disk = diskReason(mission, world.disk)
  if (disk) return [{ kind: 'disk', text: disk }]
  if (world.full) return [{ kind: 'slot', text: FULL[world.full] }]
  return []
}

const FULL: Record<FullSlot, string> = {
  fleet: 'waiting for a free slot: the fleet is full',
  project: 'waiting for a free slot: the project is full',
  agent: 'waiting for a free slot: this agent is full',
  disk: 'waiting for room on the disk that holds the home',
}

/** What a mission that is not over waits for. */
export function waitingReasons(
  mission: Mission,
  world: World,
  {
    landings = [],
    retrying = null,
  }: {
    /** The landings of its project, in their order. */
    landings?: readonly Mission[]
    /** The retry of its live session at its provider. */
    retrying?: Retrying | null
  } = {},
): Reason[] {
  switch (mission.status) {
    case 'draft':
      return mission.workflow && mission.depends_on.length
        ? [{ kind: 'dependencies', on: mission.depends_on, text: 'waiting for the stages before it' }]
        : []
    case 'queued':
      return waitsFor(mission, world)
    case 'needs_input':
    case 'review':
      return [{ kind: 'person', text: mission.status_reason?.text ?? 'waiting for a person' }]
    case 'landing':
      return [landingReason(mission, landings)]
    case 'running':
      return retryReasons(retrying, world.now)
    case 'waiting':
      return [{ kind: 'children', text: mission.status_reason?.text ?? 'waiting for its sub-missions' }]
    default:
      return []
  }
}

/** What a running agent waits for. */
export function retryReasons(retrying: Retrying | null, now: string): Reason[] {
  if (!retrying) return []
  const { next_at: until } = retrying
  return [{ kind: 'retry', ...(until && { until }), text: retryingInWords(retrying, now) }]
}

/** Landings of one project take turns. This says whose turn it is, and how many come before. */
function landingReason(mission: Mission, landings: readonly Mission[]): Reason {
  const ahead = landings.slice(
    0,
    Math.max(
      0,
      landings.findIndex(({ id }) => id === mission.id),
    ),
  )
  const [first] = ahead
  if (!first) return { kind: 'landing', text: mission.status_reason?.text ?? 'landing' }
  const others = ahead.length > 1 ? ` and ${ahead.length - 1} more` : ''
  return {
    kind: 'landing',
    on: ahead.map(({ id }) => id),
    text: `waiting for the landing of ${names([first])}${others}`,
  }
}
