import { ROLES, type Role } from '../records/principal.ts'

/** A role in the whole fleet, in the project with this name, or in a team of it. */
export interface WantedRole {
  role: Role
  project: string | null
  team?: string
}

/** What a group of a provider stands for. */
export interface MappedGroup extends WantedRole {
  group: string
}

const ROLE_FORM = new RegExp(`^(${ROLES.join('|')})(?:@(.+))?$`)

/** Reads `monitor`, `team-lead@website` or `worker@website:red`. Undefined: it is no role. */
export function wantedRole(text: string): WantedRole | undefined {
  const [, role, place] = ROLE_FORM.exec(text.trim()) ?? []
  if (!role) return undefined
  if (place === undefined) return { role: role as Role, project: null }
  const [, project, team] = /^(.+):([\w-]+)$/.exec(place) ?? []
  return { role: role as Role, project: (project ?? place).trim(), ...(team && { team }) }
}

const FORM = new RegExp(`^(.+)=((?:${ROLES.join('|')})(?:@.+)?)$`)

/** Reads `admins=owner` or `web=team-lead@website`. The name of a group may contain `=` itself. Undefined: it is none. */
export function mappedGroup(text: string): MappedGroup | undefined {
  const [, group, place] = FORM.exec(text.trim()) ?? []
  const wanted = place && wantedRole(place)
  return group && wanted ? { group: group.trim(), ...wanted } : undefined
}

/** What somebody gets for the groups they are in. A group that is not mapped gives nothing. */
export const mappedFor = (groups: readonly string[], map: readonly string[]): MappedGroup[] =>
  map.flatMap(text => mappedGroup(text) ?? []).filter(({ group }) => groups.includes(group))

/** The groups in a claim: a list, or one text. Providers are not to be trusted with anything else. */
export function groupsIn(claim: unknown): string[] {
  const given = Array.isArray(claim) ? claim : [claim]
  return given.filter(each => typeof each === 'string')
}
