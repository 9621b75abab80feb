import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { isInTerminal, type Session } from '../../domain/records/session.ts'
import type { DiskShare } from '../../domain/rules/disk.ts'
import type { FullSlot, Reason } from '../../domain/rules/waiting.ts'
import { diskShareOf } from '../disk/limits.ts'
import type { Fleet } from '../fleet.ts'
import { fleetState, readable } from '../records.ts'
import { diskIsFull, fullSlot, liveSessions } from './capacity.ts'
import { holdOn } from './holds.ts'

/** What keeps queued missions from starting, for a process that is not the daemon. Each thing is looked up once. */
export interface Circumstances {
  isPaused(): Promise<boolean>
  project(id: string): Promise<Project | undefined>
  mission(id: string): Promise<Mission | undefined>
  hold(agent: string, project: Project): Promise<Reason | null>
  full(agent: string, project: Project): Promise<FullSlot | null>
  disk(project: Project): DiskShare | null
  /** The first missions of a project that are landing or being undone, in the order of their turns. */
  landings(project: string): Promise<Mission[]>
  /** The live session of a mission. */
  session(mission: string): Promise<Session | undefined>
}

const MOST_LANDINGS = 200

export function circumstancesOf(fleet: Fleet): Circumstances {
  // All projects share slots and budgets, also those that the caller may not see.
  const { whole } = fleet.view ?? { whole: fleet }
  const known = new Map<string, unknown>()
  const once = <T>(name: string, look: () => T): T => {
    if (!known.has(name)) known.set(name, look())
    return known.get(name) as T
  }
  const live = () => once('live', () => liveSessions(whole))
  return {
    isPaused: () => once('paused', async () => (await fleetState(fleet)).value.paused),
    project: id => once(`project ${id}`, async () => (await readable(fleet, 'projects', id))?.value),
    // A dependency may be in a project that the caller may not see. Views say `other work` then.
    mission: id => once(`mission ${id}`, async () => (await readable(whole, 'missions', id))?.value),
    hold: (agent, project) => once(`hold ${agent} ${project.id}`, () => holdOn(whole, agent, project)),
    disk: project => once(`disk ${project.id}`, () => diskShareOf(fleet, project)),
    landings: project =>
      once(`landings ${project}`, async () => {
        const page = await fleet.store.find('missions', { index: 'landing', equals: [project], limit: MOST_LANDINGS })
        return page.items.map(({ value }) => value)
      }),
    session: async mission => (await live()).find(({ mission_id }) => mission_id === mission),
    async full(agent, project) {
      // What is in a terminal takes no slot.
      const atWork = (await live()).filter(session => !isInTerminal(session))
      return (
        fullSlot(fleet, atWork, agent, project) ?? (once('disk', () => diskIsFull(fleet)) ? ('disk' as const) : null)
      )
    },
  }
}
