import { Button, IconButton, Text } from '@radix-ui/themes'
import { Plus, X } from 'lucide-react'
import type { Input } from '../../api/client.ts'
import { useProjectNames } from '../../kit/choosers.tsx'
import { ChoiceInput } from '../../kit/fields.tsx'
import { plain } from '../../kit/plain.ts'
import { namesOf } from '../../kit/project-names.ts'
import { useAsk } from '../../live/data.ts'
import './people.css'

export type Grants = NonNullable<Input<'make_token'>['grants']>
type Grant = Grants[number]

/** The least, so that nobody gets more than was meant. */
export const FIRST_GRANT: Grant = { role: 'monitor', project_id: null }

interface GrantsInputProps {
  grants: Grants
  set(grants: Grants): void
}

/** Roles, each in the whole fleet, in one project or in one team. */
export function GrantsInput({ grants, set }: GrantsInputProps) {
  const roles = useAsk('list_roles', {}).data?.roles ?? []
  const projects = useAsk('list_projects', { limit: 500 }).data?.projects ?? []
  const teams = useAsk('list_teams', {}).data?.teams ?? []
  const where = [...namesOf(projects)].flatMap(([id, name]) => [
    { value: id, label: plain(name) },
    ...teams
      .filter(team => team.project_id === id && !team.ended_at)
      .map(team => ({ value: `${id} ${team.id}`, label: `${plain(name)}, team ${team.name}` })),
  ])
  const put = (at: number, change: Partial<Grant>) =>
    set(grants.map((grant, index) => (index === at ? { ...grant, ...change } : grant)))
  return (
    <div>
      <ul className="grants" aria-label="Roles">
        {grants.map(({ role, project_id, team_id }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two may be alike while they are being chosen
          <li key={at} className="grant">
            <ChoiceInput
              label="Role"
              value={role}
              set={chosen => chosen && put(at, { role: chosen as Grant['role'] })}
              options={roles.map(each => each.role)}
            />
            <ChoiceInput
              label="Where"
              value={project_id ? [project_id, team_id].filter(Boolean).join(' ') : null}
              set={chosen => put(at, placeIn(chosen))}
              options={where}
              none="Whole fleet"
            />
            <IconButton
              type="button"
              variant="soft"
              color="gray"
              highContrast
              aria-label="Remove this role"
              onClick={() => set(grants.filter((_, index) => index !== at))}
            >
              <X size={16} />
            </IconButton>
            <Text size="1" color="gray" className="grant-about">
              {roles.find(each => each.role === role)?.about}
            </Text>
          </li>
        ))}
      </ul>
      <Button
        type="button"
        size="1"
        variant="soft"
        color="gray"
        highContrast
        onClick={() => set([...grants, FIRST_GRANT])}
      >
        <Plus size={14} /> {grants.length ? 'Add another role' : 'Add a role'}
      </Button>
    </div>
  )
}

/** The project and the team in a choice. */
function placeIn(chosen: string | null): Pick<Grant, 'project_id' | 'team_id'> {
  const [project_id = null, team_id] = chosen?.split(' ') ?? []
  return { project_id, team_id }
}

type Given = Pick<Grant, 'team_id'> & { role: string; project_id: string | null }

/** Such as “team-lead in Shop”, or “worker in the team red of Shop”. */
export function useGrantWords(): (grant: Given) => string {
  const projectName = useProjectNames()
  const teams = useAsk('list_teams', {}).data?.teams ?? []
  return ({ role, project_id, team_id }) => {
    if (project_id === null) return `${role} in the whole fleet`
    const project = plain(projectName(project_id) || 'a project that is gone')
    if (team_id === undefined) return `${role} in ${project}`
    return `${role} in the team ${teams.find(({ id }) => id === team_id)?.name ?? team_id} of ${project}`
  }
}

export function RoleList({ grants }: { grants: readonly Given[] }) {
  const words = useGrantWords()
  if (!grants.length)
    return (
      <Text size="2" color="gray">
        none
      </Text>
    )
  return (
    <Text size="2" asChild>
      <ul className="roles">
        {grants.map(grant => (
          <li key={`${grant.role} ${grant.project_id} ${grant.team_id}`}>{words(grant)}</li>
        ))}
      </ul>
    </Text>
  )
}
