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
    'Whoever can read the files of the home is its owner and may do everything. Everybody else is a person or a service with roles, each in the whole fleet or in one project. `fleet user`, `fleet token` and `fleet role` manage them: see [Share a fleet](../guides/sharing.md).',
    '## Roles',
    table(
      ['role', 'in short'],
      ROLES.map(role => [code(role), cell(ROLE_WORDS[role])]),
    ),
    '## Permissions',
    '`yes`: in the whole fleet or in one project, as the role was given. `fleet`: only if the role was given in the whole fleet.',
    table(
      ['permission', 'what it allows', ...ROLES],
      permissions.map(permission => [
        code(permission),
        cell(PERMISSIONS[permission]),
        ...ROLES.map(role => {
          if (reachOf([{ role, project_id: null }], permission) !== 'fleet') return ''
          return isEmpty(reachOf([{ role, project_id: 'p' }], permission)) ? 'fleet' : 'yes'
        }),
      ]),
    ),
    '## Operations',
    'A role in one project allows an operation in that project. `fleet`: the operation concerns the whole fleet, so a role in one project is not enough. `either`: it depends on whether the input names something in a project. A query without a project answers about the projects that the caller may see. What somebody may not see does not exist for them.',
    table(
      ['operation', 'permission', 'concerns'],
      OPERATIONS.map(operation => [code(operation.name), code(operation.may), whereOf(operation)]),
    ),
    'Starting a mission, or letting it land without a review, may need more: `create_mission` with `auto_dispatch` needs `missions.run`, with `schedule_cron` also `schedules.write`, and `landing: auto` or `landing: pull-request` needs `missions.land` wherever it is set on a mission, also by a template; so does a workflow with a stage that `chooses` a winner, which lands. `plan_project` without `project_id` may create a project, and needs `projects.write`. Answering a permission request, or `otherwise: allow` on a mission, needs `approvals.decide`, which no agent has. A plugin passes on what a person answers, and sets no `otherwise: allow`. Rules that answer by themselves are made by people only.',
  ].join('\n\n')
}
