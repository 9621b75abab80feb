import { ROLES } from '../src/domain/records/principal.ts'
import { whereOf } from '../src/operations/authorize.ts'
import { OPERATIONS } from '../src/operations/index.ts'
import { PERMISSIONS, type Permission } from '../src/operations/permissions.ts'
import { isEmpty, ROLE_WORDS, reachOf } from '../src/operations/roles.ts'
import { cell, code, table } from './markdown.ts'

/** Who may do what. `test/operations/roles.test.ts` walks all operations and compares with this page. */
export function permissionsPage(): string {
  const permissions = Object.keys(PERMISSIONS) as Permission[]
  return [
    'Whoever can read the files of the home is its owner and may do everything. Everybody else is a person or a service with roles, each in the whole fleet, in one project, or in one team of a project. `fleet user`, `fleet token` and `fleet role` manage them: see [Share a fleet](../guides/sharing.md).',
    '## Roles',
    table(
      ['role', 'in short'],
      ROLES.map(role => [code(role), cell(ROLE_WORDS[role])]),
    ),
    '## Permissions',
    '`yes`: in the whole fleet, in one project or in one team, as the role was given. `project`: not if the role was given in one team. `fleet`: only if it was given in the whole fleet.',
    table(
      ['permission', 'what it allows', ...ROLES],
      permissions.map(permission => [
        code(permission),
        cell(PERMISSIONS[permission]),
        ...ROLES.map(role => {
          if (reachOf([{ role, project_id: null }], permission) !== 'fleet') return ''
          if (isEmpty(reachOf([{ role, project_id: 'p' }], permission))) return 'fleet'
          return isEmpty(reachOf([{ role, project_id: 'p', team_id: 't' }], permission)) ? 'project' : 'yes'
        }),
      ]),
    ),
    '## Operations',
    'A role in one project allows an operation in that project. `fleet`: the operation concerns the whole fleet, so a role in one project is not enough. `either`: it depends on whether the input names something in a project. A query without a project answers about the projects that the caller may see. What somebody may not see does not exist for them. A role in one team reads the project without its other teams, and changes only what is of that team: its members, mail and board, its tasks and the missions of its members, and what is about those. A command must name something of the team.',
    table(
      ['operation', 'permission', 'concerns'],
      OPERATIONS.map(operation => [code(operation.name), code(operation.may), whereOf(operation)]),
    ),
    'Starting a mission, or letting it land without a review, may need more: `create_mission` with `auto_dispatch` needs `missions.run`, with `schedule_cron` also `schedules.write`, and `landing: auto` or `landing: pull-request` needs `missions.land` wherever it is set on a mission, also by a template; so does a workflow with a stage that `chooses` a winner, which lands. `plan_project` without `project_id` may create a project, and needs `projects.write`. Answering a permission request, or `otherwise: allow` on a mission, needs `approvals.decide`, which no agent has. A plugin passes on what a person answers, and sets no `otherwise: allow`. Rules that answer by themselves are made by people only.',
  ].join('\n\n')
}
