import { type Grant, ROLES, type Role } from '../domain/records/principal.ts'
import { PERMISSIONS, type Permission } from './permissions.ts'

/** What concerns the whole fleet. A role in one project never includes it. */
const FLEET_ONLY: readonly Permission[] = [
  'system.inspect',
  'settings.write',
  'devices.manage',
  'plugins.manage',
  'people.manage',
  'metrics.read',
]

const EVERYBODY: readonly Permission[] = ['self.manage', 'system.read', 'projects.read', 'missions.read', 'teams.read']

/** What a role in one team of a project includes, as far as the role has it: reading, and the work of the team. */
const IN_TEAM: ReadonlySet<Permission> = new Set([
  ...(['self.manage', 'system.read', 'projects.read', 'missions.read', 'teams.read'] as const),
  ...(['reports.read', 'transcripts.read', 'costs.read', 'comments.write'] as const),
  ...(['missions.create', 'missions.run', 'missions.review', 'missions.land'] as const),
  ...(['messages.send', 'questions.answer', 'teams.manage'] as const),
  ...(['mail.send', 'mail.broadcast', 'tasks.work'] as const),
])

const READER: readonly Permission[] = [...EVERYBODY, 'reports.read', 'transcripts.read', 'costs.read']

const ALL = Object.keys(PERMISSIONS) as Permission[]
const NOT_OF_LEADS: readonly Permission[] = [
  'settings.write',
  'devices.manage',
  'plugins.manage',
  'people.manage',
  'session.act',
]

/** `session.act` is for the tokens of sessions, so no role has it. */
export const ROLE_PERMISSIONS: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  owner: new Set(ALL.filter(permission => permission !== 'session.act')),
  'team-lead': new Set(ALL.filter(permission => !NOT_OF_LEADS.includes(permission))),
  coordinator: new Set<Permission>([
    ...READER,
    ...(['missions.create', 'missions.run', 'missions.review', 'comments.write', 'messages.send'] as const),
    ...(['mail.send', 'mail.broadcast', 'tasks.work'] as const),
    ...(['questions.answer', 'plans.run', 'workflows.run', 'loops.run', 'schedules.write'] as const),
  ]),
  worker: new Set<Permission>([
    ...EVERYBODY,
    'reports.read',
    'comments.write',
    'missions.create',
    'mail.send',
    'tasks.work',
  ]),
  merger: new Set<Permission>([...READER, 'comments.write', 'missions.review', 'missions.land']),
  monitor: new Set<Permission>([...READER, 'system.inspect', 'metrics.read']),
}

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  owner: 'may do everything',
  'team-lead': 'may do everything but change the settings, people, plugins and browsers of the fleet',
  coordinator: 'plans, creates, starts and answers; does not land, undo, delete or allow tools',
  worker: 'reads, comments, and creates missions that somebody else starts',
  merger: 'reviews, comments, lands and undoes',
  monitor: 'reads everything and changes nothing',
}

/** Where a permission holds: in the whole fleet, or in these projects. */
export type Reach = 'fleet' | ReadonlyMap<string, InProject>
/** All of a project, or these teams of it. Reading is of the whole project, without its other teams. */
export type InProject = 'all' | ReadonlySet<string>

export function reachOf(grants: readonly Grant[], permission: Permission): Reach {
  const giving = grants.filter(grant => gives(grant, permission))
  return !giving.some(isWholeFleet) && FLEET_ONLY.includes(permission) ? new Map() : placesOf(giving)
}

const gives = ({ role, team_id }: Grant, permission: Permission): boolean =>
  ROLE_PERMISSIONS[role].has(permission) && (team_id === undefined || IN_TEAM.has(permission))

const isWholeFleet = ({ project_id }: Grant): boolean => project_id === null

function placesOf(grants: readonly Grant[]): Reach {
  if (grants.some(isWholeFleet)) return 'fleet'
  const places = new Map<string, InProject>()
  for (const { project_id, team_id } of grants) {
    const known = places.get(project_id!) ?? new Set()
    places.set(project_id!, known === 'all' || team_id === undefined ? 'all' : new Set([...known, team_id]))
  }
  return places
}

/** Where anything at all may be seen. */
export const sightOf = (grants: readonly Grant[]): Reach => placesOf(grants)

export function both(one: Reach, other: Reach): Reach {
  if (one === 'fleet') return other
  if (other === 'fleet') return one
  const places = [...one].flatMap(([project, here]): [string, InProject][] => {
    const there = other.get(project)
    const within = here === 'all' ? there : there === 'all' ? here : there && here.intersection(there)
    return within && (within === 'all' || within.size) ? [[project, within]] : []
  })
  return new Map(places)
}

/** Whether it is reached in some part of a project. */
export const reaches = (reach: Reach, projectId: string): boolean => reach === 'fleet' || reach.has(projectId)

const isReading = (permission: Permission): boolean => permission.endsWith('.read')

/** Whether these roles include a permission in a project, for what is of this team in it. Undefined: it is of no team. */
export function holds(reach: Reach, permission: Permission, projectId: string, teamId: string | undefined): boolean {
  if (reach === 'fleet') return true
  const place = reach.get(projectId)
  if (place === undefined || place === 'all') return place !== undefined
  return teamId === undefined ? isReading(permission) : place.has(teamId)
}

/** Whether these roles include one of these permissions there. */
export const holdsOneOf = (
  grants: readonly Grant[],
  anyOf: readonly string[],
  projectId: string,
  teamId?: string,
): boolean => (anyOf as readonly Permission[]).some(each => holds(reachOf(grants, each), each, projectId, teamId))

export const isEmpty = (reach: Reach): boolean => reach !== 'fleet' && reach.size === 0

/** Whether whoever has `held` may give `wanted` away: nobody hands out more than they have. */
export const covers = (held: readonly Grant[], wanted: readonly Grant[]): boolean =>
  wanted.every(grant =>
    [...ROLE_PERMISSIONS[grant.role]].every(permission => {
      const reach = reachOf(held, permission)
      if (reach === 'fleet') return true
      if (grant.project_id === null) return false
      const place = reach.get(grant.project_id)
      const isCovered = place === 'all' || (grant.team_id !== undefined && place?.has(grant.team_id))
      return isCovered || isEmpty(reachOf([grant], permission))
    }),
  )

export { ROLES }
