import { Badge, Button, Flex, Text } from '@radix-ui/themes'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import type { Output } from '../../api/client.ts'
import { ChoiceInput, LongTextInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { plural, type Tone } from '../../kit/words.ts'
import { useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { ROLE_OPTIONS } from './add-member.tsx'
import { useRequests } from './asks.ts'
import type { PartProps } from './part.ts'
import { PRIORITIES } from './post.tsx'
import { type Member, ROLES, type Team } from './words.ts'

type Request = Output<'spawn_status'>['requests'][number]

const STATES: Record<Request['state'], { word: string; tone: Tone }> = {
  requested: { word: 'Needs a decision', tone: 'amber' },
  waiting: { word: 'Granted, waits', tone: 'blue' },
  spawned: { word: 'Added', tone: 'green' },
  refused: { word: 'Refused', tone: 'red' },
  cancelled: { word: 'Cancelled', tone: 'gray' },
}

/** Requests for more members: those that are open in their order, then the others. */
export default function Requests({ team, myself }: PartProps) {
  const [asking, setAsking] = useState(false)
  const mayAdd = useMay('add_member', team.project_id)
  const mayAsk = useMay('spawn_request', team.project_id)
  return (
    <Section
      title="Requests for members"
      actions={
        mayAsk &&
        !mayAdd && (
          <Button size="1" variant="soft" onClick={() => setAsking(true)}>
            <UserPlus size={14} /> Ask for a member
          </Button>
        )
      }
    >
      <Answer of={useRequests(team)}>
        {({ requests }) =>
          requests.length ? (
            <ul className="lines" aria-label="Requests">
              {requests.map(request => (
                <li key={request.id}>
                  <RequestCard team={team} request={request} all={requests} myself={myself} />
                </li>
              ))}
            </ul>
          ) : (
            <Empty icon={UserPlus} title="No requests">
              A member that needs help asks for another one, by role and task. You or a lead grant it; it is added as
              soon as there is room. {team.spawning === 'grant' && 'In this team, workers are granted without asking.'}
            </Empty>
          )
        }
      </Answer>
      {asking && <Ask team={team} close={() => setAsking(false)} />}
    </Section>
  )
}

interface RequestCardProps {
  team: Team
  request: Request
  all: readonly Request[]
  myself: Member | undefined
}

function RequestCard({ team, request, all, myself }: RequestCardProps) {
  const { handle, role, from, task, priority, state, waits_for, reason, depends_on, before, created_at } = request
  const { word, tone } = STATES[state]
  const isOpen = state === 'requested' || state === 'waiting'
  const name = handle ?? ROLES[role]
  const first = depends_on.map(id => nameOf(all.find(each => each.id === id)))
  return (
    <article className="line" aria-label={plain(name)}>
      <div className="line-head">
        <Badge color={tone} highContrast>
          {word}
        </Badge>
        <Text size="2" weight="medium" className="break">
          {plain(name)}
        </Text>
        <Text size="2" color="gray" className="break">
          {[handle && ROLES[role], `asked for by ${plain(from.handle)}`].filter(Boolean).join(' · ')}
        </Text>
        {priority !== 'normal' && (
          <Badge color={priority === 'low' ? 'gray' : 'red'} highContrast>
            {PRIORITIES[priority]}
            {priority !== 'critical' && ' priority'}
          </Badge>
        )}
        <Text size="1" color="gray">
          <Time at={created_at} />
        </Text>
      </div>
      {task && (
        <div className="line-body">
          <Markdown text={task} />
        </div>
      )}
      {isOpen && (waits_for || before > 0 || first.length > 0) && (
        <Text as="div" size="2" className="break">
          {[
            waits_for && `It waits for ${plain(waits_for)}.`,
            before > 0 && `${plural(before, 'request comes', 'requests come')} before it.`,
            first.length > 0 && `After ${first.join(', ')}.`,
          ]
            .filter(Boolean)
            .join(' ')}
        </Text>
      )}
      {reason && (
        <Text as="div" size="2" color="gray" className="break">
          {plain(reason)}
        </Text>
      )}
      {isOpen && <Acts team={team} request={request} isMine={from.member_id === myself?.id} />}
    </article>
  )
}

const nameOf = (request: Request | undefined): string =>
  request ? plain(request.handle ?? ROLES[request.role]) : 'an earlier request'

function Acts({ team, request: { id, state, from }, isMine }: { team: Team; request: Request; isMine: boolean }) {
  const [refusing, setRefusing] = useState(false)
  const grant = useCommand('spawn_grant')
  const cancel = useCommand('spawn_cancel')
  const project = team.project_id
  return (
    <Flex gap="2" mt="2" wrap="wrap" className="line-buttons">
      {state === 'requested' && (
        <May use="spawn_grant" project={project}>
          <Button size="1" loading={grant.busy} onClick={() => grant.run({ spawn_id: id })}>
            Grant
          </Button>
        </May>
      )}
      {!isMine && (
        <May use="spawn_refuse" project={project}>
          <Button size="1" variant="soft" color="gray" highContrast onClick={() => setRefusing(true)}>
            Refuse…
          </Button>
        </May>
      )}
      {isMine && (
        <May use="spawn_cancel" project={project}>
          <Button
            size="1"
            variant="soft"
            color="gray"
            highContrast
            loading={cancel.busy}
            onClick={() => cancel.run({ spawn_id: id })}
          >
            Cancel the request
          </Button>
        </May>
      )}
      {refusing && <Refuse id={id} asker={plain(from.handle)} close={() => setRefusing(false)} />}
    </Flex>
  )
}

function Refuse({ id, asker, close }: { id: string; asker: string; close(): void }) {
  const [reason, setReason] = useState('')
  const { run, busy } = useCommand('spawn_refuse', { done: close })
  return (
    <FormDialog
      title="Refuse the request"
      about={`${asker} is told why.`}
      act="Refuse"
      busy={busy}
      ready={!!reason.trim()}
      close={close}
      submit={() => run({ spawn_id: id, reason: reason.trim() })}
    >
      <LongTextInput label="Reason" value={reason} set={setReason} rows={3} />
    </FormDialog>
  )
}

function Ask({ team, close }: { team: Team; close(): void }) {
  const [role, setRole] = useState<string | null>('worker')
  const [handle, setHandle] = useState('')
  const [task, setTask] = useState('')
  const { run, busy } = useCommand('spawn_request', { done: close })
  return (
    <FormDialog
      title="Ask for a member"
      about="Whoever leads the team grants it or refuses it."
      act="Ask"
      busy={busy}
      ready={!!task.trim()}
      close={close}
      submit={() =>
        run({
          team_id: team.id,
          agent_type: role as Member['role'],
          task,
          ...(handle.trim() && { handle: handle.trim() }),
        })
      }
    >
      <ChoiceInput label="Role" value={role} set={setRole} options={ROLE_OPTIONS} />
      <TextInput label="Name (optional)" hint="Letters, digits, - and _" value={handle} set={setHandle} />
      <LongTextInput label="Its first task" value={task} set={setTask} rows={4} />
    </FormDialog>
  )
}
