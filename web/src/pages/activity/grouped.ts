import type { FleetEvent } from '../../live/fleet-events.ts'

/** Events about one mission on one day, the newest first. Events of the fleet stand by themselves. */
export interface Happenings {
  key: string
  day: string
  mission_id: string | null
  events: FleetEvent[]
}

/** The usage of a session is reported every few seconds. It is on the page of costs. */
const isTold = ({ kind }: FleetEvent): boolean => kind !== 'usage'

/** Groups events, newest first. A group stands where its newest event is. */
export function grouped(events: readonly FleetEvent[], dayOf: (time: string) => string): Happenings[] {
  const groups = new Map<string, Happenings>()
  for (const event of events.filter(isTold)) {
    const { mission_id, cursor, time } = event
    const day = dayOf(time)
    const key = mission_id ? `${day} ${mission_id}` : cursor
    const group = groups.get(key) ?? { key, day, mission_id, events: [] }
    group.events.push(event)
    groups.set(key, group)
  }
  return [...groups.values()]
}
