import { Badge, Button, Card, Flex, Text } from '@radix-ui/themes'
import { Megaphone, Plus, StickyNote, Trash2, UsersRound } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { LongTextInput, NumberInput, SwitchInput, TextInput } from '../../kit/fields.tsx'
import '../../kit/fold.css'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Dot } from '../../kit/status.tsx'
import { Time } from '../../kit/time.tsx'
import { plural } from '../../kit/words.ts'
import { useCommand } from '../../live/data.ts'
import { AddMember } from './add-member.tsx'
import { reachOf, reachWords } from './addressing.ts'
import { useSwarms } from './asks.ts'
import type { PartProps } from './part.ts'
import { STATES, type Team } from './words.ts'

type Swarm = Output<'swarm_list'>['swarms'][number]

/** Groups within a team, with a maximum and a blackboard of their own. */
export default function Swarms({ team, myself }: PartProps) {
  const [creating, setCreating] = useState(false)
  const create = (
    <May use="swarm_create" project={team.project_id}>
      <Button size="1" variant="soft" onClick={() => setCreating(true)}>
        <Plus size={14} /> Create a swarm
      </Button>
    </May>
  )
  return (
    <Section title="Swarms" actions={create}>
      <Answer of={useSwarms(team)}>
        {({ swarms }) => {
          const active = swarms.filter(({ ended_at }) => !ended_at)
          const ended = swarms.filter(({ ended_at }) => ended_at)
          return (
            <>
              {!active.length && (
                <Empty icon={UsersRound} title="No swarms">
                  A swarm is a named group within the team, with a maximum and a blackboard of its own. You write to all
                  of it at once, and end it at once.
                </Empty>
              )}
              <ul className="teams" aria-label="Swarms">
                {active.map(swarm => (
                  <li key={swarm.id}>
                    <SwarmCard team={team} swarm={swarm} me={myself?.id} />
                  </li>
                ))}
              </ul>
              {ended.length > 0 && (
                <details className="fold">
                  <summary>
                    <Text size="2">{plural(ended.length, 'swarm')} ended</Text>
                  </summary>
                  <ul className="lines">
                    {ended.map(({ id, name, ended_at }) => (
                      <li key={id} className="line-head">
                        <Text size="2">{plain(name)}</Text>
                        <Text size="1" color="gray">
                          <Time at={ended_at!} />
                        </Text>
                        <Text size="2">
                          <Link href={`/teams/${team.id}?tab=blackboard&swarm=${id}`}>Its blackboard</Link>
                        </Text>
                      </li>
                    ))}
                  </ul>
                </details>
              )}
            </>
          )
        }}
      </Answer>
      {creating && <CreateSwarm team={team} close={() => setCreating(false)} />}
    </Section>
  )
}

interface SwarmProps {
  team: Team
  swarm: Swarm
  me: string | undefined
}

function SwarmCard({ team, swarm, me }: SwarmProps) {
  const [asking, setAsking] = useState<'broadcast' | 'kill'>()
  const { id, name, description, max_agents, members, state } = swarm
  const close = () => setAsking(undefined)
  return (
    <Card>
      <article aria-label={plain(name)}>
        <Flex gap="2" align="center" wrap="wrap">
          <Text weight="medium">{plain(name)}</Text>
          <Text size="2" color="gray">
            {members.length} of {plural(max_agents, 'member')}
          </Text>
          {state === 'ending' && (
            <Badge color="amber" highContrast>
              Ending
            </Badge>
          )}
        </Flex>
        {description && (
          <Text as="p" size="2" mt="1" className="break">
            {plain(description)}
          </Text>
        )}
        <ul className="deliveries" aria-label="Its members">
          {members.map(handle => {
            const member = team.members.find(each => each.handle === handle)
            const { word, tone } = STATES[member?.state ?? 'idle']
            return (
              <li key={handle}>
                <Badge color="gray" highContrast className="status">
                  <Dot tone={tone} alive={member?.state === 'working'} />
                  {plain(handle)} <span className="quiet">{word}</span>
                </Badge>
              </li>
            )
          })}
        </ul>
        <Flex gap="2" mt="2" wrap="wrap" className="line-buttons">
          {members.length > 0 && (
            <May use="swarm_broadcast" project={team.project_id}>
              <Button size="1" variant="soft" onClick={() => setAsking('broadcast')}>
                <Megaphone size={14} /> Write to all…
              </Button>
            </May>
          )}
          <Button size="1" variant="soft" color="gray" highContrast asChild>
            <Link href={`/teams/${team.id}?tab=blackboard&swarm=${id}`}>
              <StickyNote size={14} /> Blackboard
            </Link>
          </Button>
          <May use="add_member" project={team.project_id}>
            <AddMember team={team} swarm={id} />
          </May>
          <May use="swarm_kill" project={team.project_id}>
            <Button size="1" variant="soft" color="red" highContrast onClick={() => setAsking('kill')}>
              <Trash2 size={14} /> Kill…
            </Button>
          </May>
        </Flex>
        {asking === 'broadcast' && <Broadcast team={team} swarm={swarm} me={me} close={close} />}
        {asking === 'kill' && <Kill team={team} swarm={swarm} close={close} />}
      </article>
    </Card>
  )
}

function CreateSwarm({ team, close }: { team: Team; close(): void }) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [most, setMost] = useState<number | null>(5)
  const { run, busy } = useCommand('swarm_create', { done: close })
  return (
    <FormDialog
      title="Create a swarm"
      about="A group within the team, with a blackboard of its own."
      act="Create"
      busy={busy}
      ready={!!name.trim()}
      close={close}
      submit={() =>
        run({ team_id: team.id, name: name.trim(), description: description.trim(), max_agents: most ?? undefined })
      }
    >
      <TextInput label="Name" hint="Letters, digits, - and _" value={name} set={setName} required />
      <LongTextInput label="Description (optional)" value={description} set={setDescription} rows={2} />
      <NumberInput label="Maximum of members" value={most} set={setMost} min={1} max={60} />
    </FormDialog>
  )
}

interface DialogProps extends Omit<SwarmProps, 'me'> {
  close(): void
}

function Broadcast({ team, swarm: { id, name, members }, me, close }: DialogProps & { me: string | undefined }) {
  const [message, setMessage] = useState('')
  const [wake, setWake] = useState(true)
  const { run, busy } = useCommand('swarm_broadcast', { done: close })
  return (
    <FormDialog
      title={`Write to all of ${plain(name)}`}
      about={reachWords(reachOf(members, team, { me, wakes: wake }))}
      act="Send"
      busy={busy}
      ready={!!message.trim()}
      close={close}
      submit={() => run({ team_id: team.id, swarm_id: id, message, wake })}
    >
      <LongTextInput label="Message" value={message} set={setMessage} rows={4} />
      <SwitchInput label="Wake" hint="Otherwise it waits for the next turn." value={wake} set={setWake} />
    </FormDialog>
  )
}

function Kill({ team, swarm: { id, name, members }, close }: DialogProps) {
  const { run, busy } = useCommand('swarm_kill', { done: close })
  return (
    <FormDialog
      title={`Kill the swarm ${plain(name)}?`}
      about={
        members.length
          ? `${plural(members.length, 'member is', 'members are')} dismissed: ${members.map(plain).join(', ')}. Their sessions stop, and their work is kept.`
          : 'Its record and its blackboard are kept.'
      }
      act="Kill"
      tone="red"
      busy={busy}
      close={close}
      submit={() => run({ team_id: team.id, swarm_id: id })}
    />
  )
}
