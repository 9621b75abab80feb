import { Badge, Button, Card, Flex, Text } from '@radix-ui/themes'
import { Plus, UsersRound } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Output } from '../../api/client.ts'
import { ProjectChooser, useProjectNames } from '../../kit/choosers.tsx'
import { LongTextInput, NumberInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { dollars, plural } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import './team.css'

export default function Teams() {
  const [creating, setCreating] = useState(false)
  const teams = useAsk('list_teams', {})
  const create = (
    <May use="create_team">
      <Button onClick={() => setCreating(true)}>
        <Plus size={16} /> Create a team
      </Button>
    </May>
  )
  const hasAny = !!teams.data?.teams.length
  return (
    <Page title="Teams" about="Agents that stay, and write to each other" actions={hasAny && create}>
      <Answer of={teams}>
        {({ teams: all }) =>
          all.length ? (
            <ul className="teams">
              {all.map(team => (
                <li key={team.id}>
                  <TeamCard team={team} />
                </li>
              ))}
            </ul>
          ) : (
            <Empty icon={UsersRound} title="No teams yet" action={create}>
              A mission is one piece of work. A team is a standing group of agents on a project, each with a name, a
              role and a conversation that goes on. You and the members write mail to each other. An idle member costs
              nothing: mail wakes it.
            </Empty>
          )
        }
      </Answer>
      {creating && <CreateTeam close={() => setCreating(false)} />}
    </Page>
  )
}

function TeamCard({ team }: { team: Output<'list_teams'>['teams'][number] }) {
  const projectName = useProjectNames()
  const { id, name, description, project_id, agents, people, max_members, max_budget_usd, paused } = team
  return (
    <Card>
      <Flex gap="2" align="center" wrap="wrap">
        <Text weight="medium">
          <Link href={`/teams/${id}`}>{plain(name)}</Link>
        </Text>
        {paused && (
          <Badge color="amber" highContrast>
            Paused
          </Badge>
        )}
        <Text size="2" color="gray">
          {plain(projectName(project_id))} · {agents} of {plural(max_members, 'agent')} ·{' '}
          {plural(people, 'person', 'people')}
          {max_budget_usd !== null && ` · budget ${dollars(max_budget_usd)}`}
        </Text>
      </Flex>
      {description && (
        <Text as="p" size="2" mt="1" className="break">
          {plain(description)}
        </Text>
      )}
    </Card>
  )
}

const MOST_MEMBERS = 60

function CreateTeam({ close }: { close(): void }) {
  const [, go] = useLocation()
  const [project, setProject] = useState<string | null>(null)
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [most, setMost] = useState<number | null>(10)
  const [budget, setBudget] = useState<number | null>(null)
  const { run, busy } = useCommand('create_team', { done: ({ id }) => go(`/teams/${id}`) })
  return (
    <FormDialog
      title="Create a team"
      act="Create"
      busy={busy}
      ready={!!project && !!name.trim()}
      close={close}
      submit={() =>
        run({
          project_id: project!,
          name: name.trim(),
          description: description.trim(),
          max_members: most ?? undefined,
          max_budget_usd: budget,
        })
      }
    >
      <ProjectChooser value={project} set={setProject} to="create_team" />
      <TextInput label="Name" hint="Letters, digits, - and _" value={name} set={setName} placeholder="crew" required />
      <LongTextInput
        label="Description (optional)"
        hint="What the team is for. Its members read it too."
        value={description}
        set={setDescription}
        rows={3}
      />
      <NumberInput label="Maximum of agents" value={most} set={setMost} min={1} max={MOST_MEMBERS} />
      <NumberInput
        label="Budget ($)"
        hint="For all members together. Once it is spent, mail wakes nobody."
        value={budget}
        set={setBudget}
        min={0}
        step="any"
        placeholder="No limit"
      />
    </FormDialog>
  )
}
