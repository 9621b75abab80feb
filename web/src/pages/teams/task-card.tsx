import { Badge, Button, DropdownMenu, IconButton } from '@radix-ui/themes'
import { CircleUser, Ellipsis } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { plain } from '../../kit/plain.ts'
import { Elapsed, Time } from '../../kit/time.tsx'
import { useCommand } from '../../live/data.ts'
import { useMayDo } from '../../live/me.ts'
import type { Running } from './asks.ts'
import { actsOn, badgeOf, type Task, type TaskAct } from './task-acts.ts'
import { AssignTask, BlockTask, CompleteTask } from './task-dialogs.tsx'
import type { Member, Team } from './words.ts'

export interface TaskCardProps {
  team: Team
  task: Task
  /** The open tasks of the team. */
  tasks: readonly Task[]
  myself: Member | undefined
  /** Its session, while it is at work. */
  now: Running | undefined
}

export function TaskCard({ team, task, tasks, myself, now }: TaskCardProps) {
  const { id, title, assignee, priority, created_at, ended_at } = task
  const badge = badgeOf(task)
  return (
    <article className="task" aria-label={plain(title)} data-state={task.state}>
      <div className="task-head">
        <Link href={`/missions/${id}`} className="task-title">
          {plain(title)}
        </Link>
        <TaskMenu team={team} task={task} tasks={tasks} myself={myself} />
      </div>
      {badge && (
        <Badge color={badge.tone} highContrast size="1">
          {plain(badge.word)}
        </Badge>
      )}
      <Why task={task} now={now} />
      <div className="task-facts">
        <span className="task-who" data-nobody={!assignee || undefined}>
          <CircleUser size={14} aria-hidden />
          {assignee ? plain(assignee.handle) : 'Nobody'}
        </span>
        {priority !== 0 && (
          <span className="task-priority" title={`Priority ${priority}`}>
            {priority > 0 ? `↑${priority}` : `↓${-priority}`}
          </span>
        )}
        {now ? <Elapsed from={now.started_at} /> : <Time at={ended_at ?? created_at} />}
      </div>
      {task.state === 'review' && (
        <Button size="1" variant="soft" asChild>
          <Link href={`/review/${id}`}>Review</Link>
        </Button>
      )}
    </article>
  )
}

/** Why it is where it is: what blocks it, by name, or what its member does at it. */
function Why({
  task: { state, status, assignee, blockers, waits_for, why },
  now,
}: Pick<TaskCardProps, 'task' | 'now'>): ReactNode {
  if (blockers.length)
    return (
      <div className="task-why">
        Waits for{' '}
        {blockers.map(({ id, title }, index) => (
          <span key={id}>
            {index > 0 && ', '}
            <Link href={`/missions/${id}`}>{plain(title)}</Link>
          </span>
        ))}
      </div>
    )
  if (now?.doing) return <code className="task-doing">{plain(now.doing)}</code>
  // That a person has it is said by their name.
  if (state === 'waiting' && !assignee?.is_agent) return null
  const text = waits_for[0] ?? (state === 'needs_person' || status === 'cancelled' ? why : null)
  return text && state !== 'unassigned' && state !== 'review' && <div className="task-why">{plain(text)}</div>
}

const WORDS: Record<TaskAct, string> = {
  take: 'Take it',
  assign: 'Assign…',
  unassign: 'Give it back',
  block: 'Say what blocks it…',
  complete: 'Complete…',
}
const DIALOGS = { assign: AssignTask, block: BlockTask, complete: CompleteTask }
type Asking = keyof typeof DIALOGS

function TaskMenu({ team, task, tasks, myself }: Omit<TaskCardProps, 'now'>) {
  const [asking, setAsking] = useState<Asking>()
  const [, go] = useLocation()
  const take = useCommand('team_take')
  const unassign = useCommand('team_unassign')
  const acts = actsOn(task, myself?.id, useMayDo())
  const act = (chosen: TaskAct) => {
    if (chosen === 'take') void take.run({ task_id: task.id })
    else if (chosen === 'unassign') void unassign.run({ task_id: task.id })
    else setAsking(chosen)
  }
  const Asked = asking && DIALOGS[asking]
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger>
          <IconButton
            size="1"
            variant="ghost"
            color="gray"
            highContrast
            aria-label={`Actions for ${plain(task.title)}`}
            className="task-menu"
          >
            <Ellipsis size={16} />
          </IconButton>
        </DropdownMenu.Trigger>
        <DropdownMenu.Content align="end">
          {acts.map(each => (
            <DropdownMenu.Item key={each} onSelect={() => act(each)}>
              {WORDS[each]}
            </DropdownMenu.Item>
          ))}
          {acts.length > 0 && <DropdownMenu.Separator />}
          <DropdownMenu.Item onSelect={() => go(`/missions/${task.id}`)}>Open the mission</DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Root>
      {Asked && <Asked team={team} task={task} tasks={tasks} close={() => setAsking(undefined)} />}
    </>
  )
}
