import { NotAllowed } from '../../domain/errors.ts'
import type { Member, Team } from '../../domain/records/team.ts'
import { nudgedBy } from '../../domain/rules/health.ts'
import type { By } from '../../domain/rules/life.ts'
import type { Batch, Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { current, put } from '../records.ts'
import { aboutTeam, requireTeam } from '../teams/teams.ts'

export interface MonitorChange {
  on?: boolean
  quiet_seconds?: number | null
}

/** Watches the members of a team. Of two who start it at once, one does, and the other learns who did. */
export async function startMonitor(fleet: Fleet, ask: Ask, teamId: string): Promise<{ team: Team; started: boolean }> {
  let started = false
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'teams', teamId)
    requireTeam(value)
    started = !value.monitor.on
    if (!started) return { subject: teamId, changes: [] }
    return { subject: teamId, ...switched(value, version, { on: true }, by(fleet, ask)) }
  })
  return { team: (await current(fleet, 'teams', teamId)).value, started }
}

export async function configureTeam(
  fleet: Fleet,
  ask: Ask,
  teamId: string,
  change: MonitorChange,
): Promise<Stored<Team>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'teams', teamId)
    requireTeam(value)
    return { subject: teamId, ...switched(value, version, change, by(fleet, ask)) }
  })
  return current(fleet, 'teams', teamId)
}

function switched(team: Team, version: Stored<Team>['version'], change: MonitorChange, when: By): Batch {
  const isNew = change.on !== undefined && change.on !== team.monitor.on
  const monitor = { ...team.monitor, ...change, ...(isNew && { since: when.now, by: when.actor }) }
  return {
    changes: [put('teams', { ...team, monitor, updated_at: when.now }, version)],
    events: [aboutTeam(team, 'team_changed', when, { fields: ['monitor'] })],
  }
}

export async function configureMember(
  fleet: Fleet,
  ask: Ask,
  id: string,
  change: MonitorChange,
): Promise<Stored<Member>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'members', id)
    if (value.dismissed_at) throw new NotAllowed(`${value.handle} was dismissed.`)
    if (value.person !== null) throw new NotAllowed(`${value.handle} is a person, and is not watched.`)
    const when = by(fleet, ask)
    const next = { ...value, monitor: { ...value.monitor, ...change }, updated_at: when.now }
    const { team_id, project_id, handle } = value
    const told = { member: id, handle, fields: ['monitor'] }
    return {
      subject: id,
      changes: [put('members', next, version)],
      events: [aboutTeam({ id: team_id, project_id }, 'member_changed', when, told)],
    }
  })
  return current(fleet, 'members', id)
}

/** Somebody typed a reminder: that is the first step of the member's health. */
export async function noteNudge(fleet: Fleet, id: string): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'members', id)
    const health = nudgedBy(value.health, fleet.now())
    if (health !== value.health)
      await fleet.commit('commit.member-health', { changes: [put('members', { ...value, health }, version)] })
  })
}
