import { Button, Text } from '@radix-ui/themes'
import { ListTodo, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Section } from '../../kit/page.tsx'
import { useAsk } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { useShortcuts } from '../../shell/keys.ts'
import { useNow, useOpenTasks } from './asks.ts'
import type { PartProps } from './part.ts'
import { COLUMNS, type Task } from './task-acts.ts'
import { TaskCard } from './task-card.tsx'
import { CreateTask } from './task-dialogs.tsx'
import './tasks.css'

const OVER = 60

/** The tasks of a team as a board. */
export default function Tasks({ team, myself }: PartProps) {
  const open = useOpenTasks(team)
  // The newest, with those that are over.
  const newest = useAsk('team_tasks', { team_id: team.id, over: true, limit: OVER })
  const now = useNow(team)
  const [creating, setCreating] = useState(false)
  const mayCreate = useMay('create_team_task', team.project_id)
  useShortcuts(mayCreate ? [{ keys: 'c', title: 'New task', run: () => setCreating(true) }] : [])
  const create = (
    <May use="create_team_task" project={team.project_id}>
      <Button size="1" variant="soft" onClick={() => setCreating(true)}>
        <Plus size={14} /> New task
      </Button>
    </May>
  )
  return (
    <Section title="Tasks" actions={create}>
      <Answer of={open}>
        {({ tasks, cursor }) => {
          const over = (newest.data?.tasks ?? []).filter(({ state }) => state === 'done')
          const all = [...tasks, ...over]
          if (!all.length)
            return (
              <Empty icon={ListTodo} title="No tasks yet">
                A task is a mission of the team. A member has it or takes it, works at it in its own worktree, and its
                work is checked, reviewed and landed like any other.
              </Empty>
            )
          return (
            <>
              <div className="tasks">
                {COLUMNS.map(column => (
                  <Column
                    key={column.name}
                    column={column}
                    tasks={all.filter(({ state }) => column.states.includes(state)).toSorted(column.compare)}
                    card={task => (
                      <TaskCard
                        team={team}
                        task={task}
                        tasks={tasks}
                        myself={myself}
                        now={task.state === 'working' && task.session_id ? now.get(task.session_id) : undefined}
                      />
                    )}
                  />
                ))}
              </div>
              {cursor && (
                <Text as="p" size="2" color="gray" mt="3">
                  Older tasks are among the <Link href={`/missions?project=${team.project_id}`}>missions</Link>.
                </Text>
              )}
            </>
          )
        }}
      </Answer>
      {creating && <CreateTask team={team} tasks={open.data?.tasks ?? []} close={() => setCreating(false)} />}
    </Section>
  )
}

interface ColumnProps {
  column: (typeof COLUMNS)[number]
  tasks: readonly Task[]
  card(task: Task): React.ReactNode
}

function Column({ column: { name, teaches }, tasks, card }: ColumnProps) {
  return (
    <section className="tasks-column" aria-label={name} data-empty={!tasks.length || undefined}>
      <h3>
        {name} <span>{tasks.length}</span>
      </h3>
      {tasks.length ? (
        <ul>
          {tasks.map(task => (
            <li key={task.id}>{card(task)}</li>
          ))}
        </ul>
      ) : (
        <p>{teaches}</p>
      )}
    </section>
  )
}
