import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { InvalidInput } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import { type Cli, collected, does, textFrom } from '../command.ts'
import { EXIT } from '../exit.ts'
import { projectHere, projectRef } from '../project-here.ts'

interface StageView {
  name: string
  status: string
  settled: string | null
  summary: string
  mission_id: string
  elapsed_seconds: number | null
}
export interface WorkflowView {
  id: string
  name: string
  status: string
  status_reason: { text: string; try?: string } | null
  progress: string
  elapsed_seconds: number
  waits_for: { stage: string; mission_id: string; text: string }[]
  stages: StageView[]
}

const ID = '<workflow>'
const ID_SUMMARY = 'id or first letters'
const WATCH_EVERY_MS = 500

export function addWorkflow(program: Command): void {
  const workflow = program.command('workflow').description('run missions in stages that pass on their results')

  const run = workflow
    .command('run')
    .description('run a workflow: a YAML or JSON file, or the name of a ready-made one')
    .argument('<workflow>', 'a file, or one of: fleet workflow ready-made')
    .argument('[task]', 'value of {task_prompt}; - reads stdin, @file reads a file')
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('--name <name>', 'name of this run')
    .option('--agents <agents>', 'for a ready-made workflow: agents of its stages, in order', collected)
    .option('--models <models>', 'one model for each agent', collected)
    .option('--item <text>', 'for map: one stage per item; may be repeated', (text, before: string[] = []) => [
      ...before,
      text,
    ])
    .option('-f, --follow', 'wait until it ends')
  does(run, async (cli, [what, task], options) => {
    const project_id = options.project
      ? await projectRef(cli, String(options.project))
      : (await projectHere(cli)).project.id
    const made = await cli.ask<WorkflowView>('create_workflow', {
      ...(await written(cli, what!)),
      project_id,
      ...(task !== undefined && { task_prompt: await textFrom(cli, task) }),
      ...(options.name !== undefined && { name: options.name }),
      agents: options.agents,
      models: options.models,
      items: options.item,
    })
    if (options.follow) return followWorkflow(cli, made.id)
    tell(cli, made)
    return undefined
  })

  does(workflow.command('ready-made').description('list ready-made workflows'), async cli => {
    const answer = await cli.ask<{ workflows: { name: string; summary: string }[] }>('list_ready_made_workflows', {})
    if (cli.terminal.json) return void cli.terminal.data(answer)
    cli.terminal.facts(answer.workflows.map(({ name, summary }) => [name, summary]))
  })

  does(
    workflow
      .command('list')
      .alias('ls')
      .description('list workflows, newest first')
      .option('--limit <n>', 'maximum number', Number, 50),
    async (cli, _, { limit }) => {
      const answer = await cli.ask<{ workflows: WorkflowView[] }>('list_workflows', { limit })
      if (cli.terminal.json) return void cli.terminal.data(answer)
      for (const each of answer.workflows) cli.terminal.print(headline(cli, each))
      if (answer.workflows.length === 0) cli.terminal.print('There are no workflows.')
    },
  )

  does(
    workflow
      .command('show')
      .description('show a workflow and its stages')
      .argument(ID, ID_SUMMARY)
      .option('-f, --follow', 'wait until it ends'),
    async (cli, [id], { follow: wait }) => {
      const shown = await cli.ask<WorkflowView>('get_workflow', { workflow_id: id })
      if (wait) return followWorkflow(cli, shown.id)
      tell(cli, shown)
      return undefined
    },
  )

  for (const [verb, summary] of [
    ['cancel', 'stop a workflow; the work of its stages is kept'],
    ['retry', 'run failed and stopped stages again; finished stages stay'],
  ] as const)
    does(workflow.command(verb).description(summary).argument(ID, ID_SUMMARY), async (cli, [id]) => {
      tell(cli, await cli.ask<WorkflowView>(`${verb}_workflow`, { workflow_id: id }))
    })

  does(
    workflow
      .command('change')
      .description('change a stage of an ended workflow and run it and its dependents again')
      .argument(ID, ID_SUMMARY)
      .argument('<stage>', 'name')
      .option('--prompt <prompt>', 'new prompt template; - reads stdin, @file reads a file')
      .option('--agent <agent>', 'another agent')
      .option('--model <model>', 'another model'),
    async (cli, [id, stage], { prompt, agent, model }) => {
      const template = prompt === undefined ? undefined : await textFrom(cli, String(prompt))
      tell(
        cli,
        await cli.ask<WorkflowView>('change_workflow_stage', {
          workflow_id: id,
          stage,
          prompt: template,
          agent,
          model,
        }),
      )
    },
  )

  does(
    workflow
      .command('collect')
      .description('print the results as JSON')
      .argument(ID, ID_SUMMARY)
      .option('--all', 'print every stage, not only the last ones'),
    async (cli, [id], { all }) => {
      const input = { workflow_id: id, include_all_stages: all === true }
      cli.terminal.data(await cli.ask<object>('collect_workflow_result', input))
    },
  )

  does(
    workflow
      .command('cleanup')
      .description('remove its worktrees; the work stays in the repository as refs')
      .argument(ID, ID_SUMMARY),
    async (cli, [id]) => {
      const cleaned = await cli.ask<{ worktrees: { path: string; kept_because?: string }[] }>('cleanup_workflow', {
        workflow_id: id,
      })
      if (cli.terminal.json) return void cli.terminal.data(cleaned)
      for (const { path, kept_because } of cleaned.worktrees)
        cli.terminal.print(kept_because ? `kept ${path}: ${kept_because}` : `removed ${path}`)
      if (cleaned.worktrees.length === 0) cli.terminal.print('Nothing was left to remove.')
    },
  )
}

/** A file with stages, alone or with a name and a task; or a ready-made one. */
async function written(cli: Cli, what: string): Promise<object> {
  if (!/[./\\]/.test(what)) return { use: what }
  const file = resolve(cli.terminal.streams.cwd, what)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new InvalidInput(what, `${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`)
  }
  const { parse } = await import('yaml')
  let content: unknown
  try {
    content = parse(text)
  } catch (cause) {
    throw new InvalidInput(what, `is neither YAML nor JSON: ${(cause as Error).message.split('\n')[0]}`)
  }
  if (Array.isArray(content)) return { stages: content }
  if (content && typeof content === 'object') return content
  throw new InvalidInput(what, 'has no stages')
}

/** These statuses change without a person. */
const AT_WORK = ['queued', 'running', 'landing', 'waiting']

export async function followWorkflow(cli: Cli, id: string): Promise<number> {
  let last = ''
  for (;;) {
    const now = await cli.ask<WorkflowView>('get_workflow', { workflow_id: id })
    if (!cli.terminal.json && now.progress !== last) cli.terminal.note(headline(cli, now))
    last = now.progress
    if (now.waits_for.length && !now.stages.some(({ status }) => AT_WORK.includes(status))) {
      tell(cli, now)
      return EXIT.person
    }
    if (now.status === 'done' || now.status === 'failed' || now.status === 'cancelled') {
      tell(cli, now)
      return now.status === 'done' ? EXIT.done : EXIT.failed
    }
    await new Promise(resume => setTimeout(resume, WATCH_EVERY_MS))
  }
}

function tell(cli: Cli, workflow: WorkflowView): void {
  const { terminal } = cli
  if (terminal.json) return void terminal.data(workflow)
  terminal.print(headline(cli, workflow))
  for (const { stage, mission_id, text } of workflow.waits_for)
    terminal.print(terminal.foreign(`  ${stage} (${shortId(mission_id)}) waits for you: ${text}`))
  if (workflow.status_reason) terminal.print(`  ${terminal.foreign(workflow.status_reason.text)}`)
  if (workflow.status_reason?.try) terminal.note(`  ${workflow.status_reason.try}`)
  const width = Math.max(...workflow.stages.map(stage => stage.name.length))
  for (const stage of workflow.stages) {
    const state = (stage.settled ?? stage.status).padEnd(11)
    const line = `  ${stage.name.padEnd(width)}  ${state}  ${shortId(stage.mission_id)}  ${stage.summary}`
    terminal.print(terminal.foreign(line.trimEnd()))
  }
}

const headline = ({ terminal }: Cli, each: WorkflowView): string =>
  `${terminal.paint('bold', shortId(each.id))}  ${each.status.padEnd(9)}  ${each.progress}  ${each.elapsed_seconds} s  ${terminal.foreign(each.name)}`
