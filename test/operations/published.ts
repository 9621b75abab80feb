/** What docs/reference/permissions.md says, for tests that walk every operation and every role. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROLES, type Role } from '../../src/domain/records/principal.ts'
import type { Operation } from '../../src/operations/operation.ts'
import { OWN, refsOf } from '../../src/operations/two-projects.testkit.ts'
import { ROOT } from '../kit/fleet.ts'

/** What people read. The walk compares what the program does with it. */
const PAGE = readFileSync(join(ROOT, 'docs/reference/permissions.md'), 'utf8')
const rowsOf = (title: string): string[][] =>
  PAGE.split(`## ${title}\n`)[1]!
    .split('\n## ')[0]!
    .split('\n')
    .filter(line => line.startsWith('| '))
    .slice(2)
    .map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.replaceAll('`', '').trim()),
    )

export const held = new Map(
  rowsOf('Permissions').map(([permission, , ...cells]) => [
    permission!,
    new Map(ROLES.map((role, index) => [role, cells[index]!])),
  ]),
)
export const published = new Map(
  rowsOf('Operations').map(([name, permission, concerns]) => [name!, { permission, concerns }]),
)

export const isHeld = (role: Role, { name }: Operation): string =>
  held.get(published.get(name)!.permission!)!.get(role)!

/** The narrowest input: one name of something in the project. */
export function inputOf({ input }: Operation, project: string): Record<string, unknown> {
  const refs = refsOf(project)
  return Object.fromEntries(
    Object.keys(input.shape)
      .filter(field => field in refs && !['first', 'second'].includes(field))
      .map(field => [field, refs[field]]),
  )
}

export const OF_TEAMS = ['team_id', 'mail_id', 'swarm_id', 'checkpoint_id', 'spawn_id', 'member']
/** They need `takeover.use` besides, which a role in a team does not include. */
export const TYPE_IN_TERMINALS = new Set(['send_member_input', 'exec_in_member', 'attach_member'])

/** In the project, a mission that is a task of the team. */
export const OF_A_TASK = { mission_id: `${OWN}-failed` }
export const pick = (input: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(input).filter(([field]) => fields.includes(field)))
