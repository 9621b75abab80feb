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
export type Reach = 'fleet' | ReadonlySet<string>

export function reachOf(grants: readonly Grant[], permission: Permission): Reach {
  const giving = grants.filter(({ role }) => ROLE_PERMISSIONS[role].has(permission))
  if (giving.some(({ project_id }) => project_id === null)) return 'fleet'
  if (FLEET_ONLY.includes(permission)) return new Set()
  return new Set(giving.flatMap(({ project_id }) => project_id ?? []))
}

/** Where anything at all may be seen. */
export function sightOf(grants: readonly Grant[]): Reach {
  if (grants.some(({ project_id }) => project_id === null)) return 'fleet'
  return new Set(grants.flatMap(({ project_id }) => project_id ?? []))
}

export function both(one: Reach, other: Reach): Reach {
  if (one === 'fleet') return other
  if (other === 'fleet') return one
  return one.intersection(other)
}

export const reaches = (reach: Reach, projectId: string): boolean => reach === 'fleet' || reach.has(projectId)

/** Whether these roles include one of these permissions in a project. */
export const holdsOneOf = (grants: readonly Grant[], anyOf: readonly string[], projectId: string): boolean =>
  anyOf.some(permission => reaches(reachOf(grants, permission as Permission), projectId))

export const isEmpty = (reach: Reach): boolean => reach !== 'fleet' && reach.size === 0

/** Whether whoever has `held` may give `wanted` away: nobody hands out more than they have. */
export const covers = (held: readonly Grant[], wanted: readonly Grant[]): boolean =>
  wanted.every(({ role, project_id }) =>
    [...ROLE_PERMISSIONS[role]].every(permission => {
      const reach = reachOf(held, permission)
      return project_id === null
        ? reach === 'fleet'
        : reaches(reach, project_id) || isEmpty(reachOf([{ role, project_id }], permission))
    }),
  )

export { ROLES }
