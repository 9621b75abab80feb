import type { Command } from 'commander'
import type { z } from 'zod'
import type { teamTasks } from '../../operations/team-tasks.ts'
import { addFields, type Cli, does, type Field, inputFrom, textFrom } from '../command.ts'
import { inStatusColour } from '../show.ts'
import { askTeam, TEAM } from '../team-here.ts'

type Answer<N extends (typeof teamTasks)[number]['name']> = z.infer<
  Extract<(typeof teamTasks)[number], { name: N }>['output']
>
type Task = Answer<'get_team_task'>

const TASK = ['<task>', 'id of the task, or its first letters'] as const

const NEW: readonly Field[] = [
  { flags: '--to <member>', field: 'agent', summary: 'who does it (default: whoever takes it)' },
  { flags: '--blocked-by <task...>', field: 'blocked_by', summary: 'tasks that must be done first', kind: 'list' },
  { flags: '--acceptance <text>', field: 'acceptance_criteria', summary: 'acceptance criteria' },
  { flags: '--priority <n>', field: 'priority', summary: 'higher starts first', kind: 'number' },
  { flags: '--budget <usd>', field: 'max_budget_usd', summary: 'maximum cost', kind: 'number' },
]

/** `fleet team task`. `fleet task` is another word for `fleet mission`. */
export function addTeamTasks(team: Command): void {
  const task = team.command('task').description('tasks of a team: who does what, and what waits for what')
  const create = task
    .command('create')
    .alias('add')
    .description('create a task; it starts once a member has it and is free')
    .argument('<title>', 'title of the task')
    .argument('[description]', 'everything that whoever does it must know; - reads stdin, @file reads a file')
  does(addFields(create, [...NEW, TEAM]), async (cli, [title, description], options) => {
    const text = description === undefined ? '' : await textFrom(cli, description)
    const input = { ...inputFrom([...NEW, TEAM], options), title, description: text }
    const answer = await askTeam<Task>(cli, 'create_team_task', input)
    cli.terminal.tell(answer, () => cli.terminal.print(`Created the task ${answer.id}. ${standing(cli, answer)}`))
  })
  const list = task
    .command('list')
    .alias('ls')
    .description('list the open tasks of a team')
    .option('--mine', 'only those that you have')
    .option('--unassigned', 'only those that nobody has')
    .option('--all', 'also those that are done or cancelled')
  does(addFields(list, [TEAM]), async (cli, _, { mine, unassigned, all, ...options }) => {
    const filter = mine ? 'mine' : unassigned ? 'unassigned' : 'all'
    return listTasks(
      cli,
      await askTeam(cli, 'team_tasks', { ...inputFrom([TEAM], options), filter, over: all === true }),
    )
  })
  const show = task
    .command('show')
    .description('show a task')
    .argument(...TASK)
  does(show, async (cli, [task_id]) => showTask(cli, await cli.ask('get_team_task', { task_id })))
  const assign = task
    .command('assign')
    .description('give a task to a member; a session at work on it stops, and its work goes along')
    .argument(...TASK)
    .argument('<member>', 'name of the member')
  does(addFields(assign, [TEAM]), async (cli, [id, agent], options) =>
    tell(cli, await askTeam(cli, 'team_assign', { ...inputFrom([TEAM], options), task: id, agent })),
  )
  for (const [verb, operation, summary] of [
    ['take', 'team_take', 'take a task that nobody has'],
    ['unassign', 'team_unassign', 'give a task back to the team, with its work so far'],
  ] as const) {
    const command = task
      .command(verb)
      .description(summary)
      .argument(...TASK)
    does(command, async (cli, [task_id]) => tell(cli, await cli.ask(operation, { task_id })))
  }
  const complete = task
    .command('complete')
    .description('say that a task is done; refused while its blockers are not')
    .argument(...TASK)
    .option('-m, --summary <text>', 'what was done')
  does(complete, async (cli, [task_id], { summary }) => tell(cli, await cli.ask('team_complete', { task_id, summary })))
  const block = task
    .command('block')
    .description('say which tasks a task waits for')
    .argument(...TASK)
    .argument('<by...>', 'ids of the tasks that must be done first')
    .option('-m, --reason <text>', 'why')
  does(block, async (cli, [task_id, ...blocked_by], { reason }) =>
    tell(cli, await cli.ask('team_block', { task_id, blocked_by: blocked_by.flat(), reason })),
  )
}

/** Who has it and how it stands, in words. */
function standing({ terminal }: Cli, { assignee, state, handing_to, waits_for }: Task): string {
  const who = assignee ? `${assignee.handle} has it` : 'Nobody has it'
  const next = handing_to ? `, ${handing_to} gets it` : ''
  const why = waits_for.length ? `: ${terminal.foreign(sentence(waits_for))}` : ''
  return `${who}${next}. It is ${WORDS[state]}${why}.`
}

/** Reasons after a colon: the sentence they are in has a full stop of its own. */
const sentence = (reasons: readonly string[]): string => reasons.map(each => each.replace(/\.$/, '')).join('; ')

const WORDS: Record<Task['state'], string> = {
  unassigned: 'open',
  blocked: 'blocked',
  waiting: 'waiting',
  working: 'at work',
  needs_person: 'waiting for a person',
  review: 'in review',
  done: 'done',
}

const COLOURS: Record<Task['state'], string> = {
  unassigned: 'draft',
  blocked: 'waiting',
  waiting: 'queued',
  working: 'running',
  needs_person: 'needs_input',
  review: 'review',
  done: 'done',
}

function tell(cli: Cli, task: Task): undefined {
  const { terminal } = cli
  terminal.tell(task, () => terminal.print(`${terminal.foreign(task.title)} (${task.id}). ${standing(cli, task)}`))
  return undefined
}

function listTasks({ terminal }: Cli, answer: Answer<'team_tasks'>): undefined {
  if (terminal.json) return void terminal.data(answer)
  if (!answer.tasks.length) return void terminal.note('There are no such tasks. Create one: fleet team task create "…"')
  terminal.table(
    [
      { title: 'TASK', value: each => each.id },
      { title: 'STATE', value: each => WORDS[each.state], paint: (text, { state }) => paint(text, state) },
      { title: 'WHO', value: each => each.assignee?.handle ?? '' },
      { title: 'BLOCKED BY', value: each => each.blockers.map(({ id }) => id).join(' '), extra: true },
      { title: 'TITLE', value: each => terminal.foreign(each.title), flexible: true },
    ],
    answer.tasks,
  )
  if (answer.cursor) terminal.note('There are more: fleet call team_tasks --help')
  return undefined

  function paint(text: string, state: Task['state']): string {
    return inStatusColour(terminal, COLOURS[state], text)
  }
}

function showTask(cli: Cli, task: Task): undefined {
  const { terminal } = cli
  if (terminal.json) return void terminal.data(task)
  terminal.print(`${terminal.paint('bold', terminal.foreign(task.title))}  ${task.id}`)
  terminal.print(standing(cli, task))
  for (const { id, title, status } of task.blockers)
    terminal.print(`Blocked by ${terminal.foreign(title)} (${id}, ${status})`)
  if (task.why && !task.waits_for.includes(task.why)) terminal.print(terminal.foreign(task.why))
  if (task.candidate) terminal.print(`Its work: fleet diff ${task.id}`)
  if (task.landed) terminal.print(`Landed as ${task.landed}`)
  terminal.print('')
  terminal.print(terminal.foreign(task.description))
  return undefined
}
