import { ROLES, type Role } from '../records/principal.ts'

/** What a group of a provider stands for: a role in the whole fleet, or in the project with this name. */
export interface MappedGroup {
  group: string
  role: Role
  project: string | null
}

const FORM = new RegExp(`^(.+)=(${ROLES.join('|')})(?:@(.+))?$`)

/** Reads `admins=owner` or `web=team-lead@website`. The name of a group may contain `=` itself. Undefined: it is none. */
export function mappedGroup(text: string): MappedGroup | undefined {
  const [, group, role, project = null] = FORM.exec(text.trim()) ?? []
  return group && role ? { group: group.trim(), role: role as Role, project: project?.trim() ?? null } : undefined
}

/** What somebody gets for the groups they are in. A group that is not mapped gives nothing. */
export const mappedFor = (groups: readonly string[], map: readonly string[]): MappedGroup[] =>
  map.flatMap(text => mappedGroup(text) ?? []).filter(({ group }) => groups.includes(group))

/** The groups in a claim: a list, or one text. Providers are not to be trusted with anything else. */
export function groupsIn(claim: unknown): string[] {
  const given = Array.isArray(claim) ? claim : [claim]
  return given.filter(each => typeof each === 'string')
}
