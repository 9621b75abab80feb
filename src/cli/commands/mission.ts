import { type Command, Option } from 'commander'
import { STATUSES } from '../../domain/records/mission.ts'
import type { MissionView } from '../../operations/views.ts'
import { addFields, type Cli, does, inputFrom, textFrom } from '../command.ts'
import { MISSION_FIELDS, RUN_FIELDS } from '../mission-fields.ts'
import { projectHere, projectRef } from '../project-here.ts'
import { titleOf } from '../show.ts'
import { describeMission, listMissions, printPath, tellMission } from '../show-mission.ts'
import { addTask } from './task.ts'

const ID = '<mission>'
const ID_SUMMARY = 'id or first letters'
const PROMPT_SUMMARY = 'what the agent should do; - reads stdin, @file reads a file'

export function addMission(program: Command): void {
  const mission = program.command('mission').alias('task').description('create and manage missions')

  addTask(mission)

  const create = mission.command('create').description('create a mission').argument('<prompt>', PROMPT_SUMMARY)
  addFields(create, MISSION_FIELDS)
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('--dispatch', 'queue it right away; it starts when its dependencies are done')
  does(create, async (cli, [prompt], options) => {
    await tellMission(cli, await createMission(cli, prompt!, options, options.dispatch === true), 'Created')
  })

  const list = mission
    .command('list')
    .alias('ls')
    .description('list missions, newest first')
    .option('--project <project>', 'only this project: id, name or path')
    .addOption(new Option('--status <status>', 'only with this status').choices(STATUSES))
    .option('--tag <tag>', 'only with this tag')
    .option('--agent <agent>', 'only this agent')
    .option('--text <text>', 'only missions with this text in the title or at the start of the prompt')
    .option('--parent <mission>', 'only sub-missions of this mission')
    .option('--limit <n>', 'maximum number', Number, 50)
    .option('--cursor <cursor>', 'continue from the end of an earlier list')
  does(list, async (cli, _, { project, parent, status, tag, agent, text, limit, cursor }) => {
    const project_id = project === undefined ? undefined : await projectRef(cli, String(project))
    await listMissions(cli, { project_id, parent_mission_id: parent, status, tag, agent, text, limit, cursor })
  })

  does(
    mission
      .command('show')
      .description('show a mission with its sessions, report, evidence and comments')
      .argument(ID, ID_SUMMARY)
      .option('--checks', 'include the full output of its checks'),
    (cli, [id], { checks }) => describeMission(cli, id!, { checks: checks === true }),
  )

  does(
    mission
      .command('path')
      .description('print the folder of a mission, for cd "$(fleet mission path …)"')
      .argument(ID, ID_SUMMARY),
    (cli, [id]) => printPath(cli, id!),
  )

  const edit = mission
    .command('edit')
    .description('change a mission; an empty value resets a setting')
    .argument(ID, ID_SUMMARY)
  addFields(edit, MISSION_FIELDS).option('--prompt <prompt>', PROMPT_SUMMARY)
  does(edit, async (cli, [id], options) => {
    const prompt = options.prompt === undefined ? {} : { detailed_prompt: await textFrom(cli, String(options.prompt)) }
    await tellMission(
      cli,
      await cli.ask<MissionView>('update_mission', {
        mission_id: id,
        ...inputFrom(MISSION_FIELDS, options),
        ...prompt,
      }),
      'Changed',
    )
  })

  does(
    mission
      .command('delete')
      .alias('rm')
      .description('delete a mission; its work stays in the repository under refs/fleet')
      .argument(ID, ID_SUMMARY)
      .option('--discard', 'delete uncommitted work too'),
    async (cli, [id], { discard }) => {
      const input = { mission_id: id, ...(discard === true && { discard }) }
      const answer = await cli.ask<{ deleted: string }>('delete_mission', input)
      cli.terminal.tell(answer, () => cli.terminal.print(`Deleted mission ${answer.deleted}.`))
    },
  )

  const dispatch = mission
    .command('dispatch')
    .description('start an agent on it; settings given here are saved in the mission')
    .argument(ID, ID_SUMMARY)
  addFields(dispatch, RUN_FIELDS)
    .option('--instructions <text>', 'extra instructions for this session only')
    .option('-f, --follow', 'watch it until it ends')
  does(dispatch, async (cli, [id], options) => {
    const extra = options.instructions === undefined ? {} : { append_system_prompt: options.instructions }
    return goOn(
      cli,
      await cli.ask<MissionView>('dispatch_mission', { mission_id: id, ...inputFrom(RUN_FIELDS, options), ...extra }),
      options,
    )
  })

  addAgain(
    mission,
    'retry',
    'start over on a new branch; the old one is kept, and settings given here are saved in the mission',
  )
  addAgain(
    mission,
    'resume',
    'continue in the same worktree and conversation; settings given here are saved in the mission',
  )
  addAgain(mission, 'reopen', 'reopen a finished mission; settings given here are saved in the mission')
  addAgain(mission, 'fork', 'fork a mission: a second mission with its work and a copy of its conversation').option(
    '--fresh',
    'with a new conversation and a written hand-over instead',
  )

  const cancel = mission
    .command('cancel')
    .description('stop it and its sub-missions; their work is kept on their branches')
    .argument(ID, ID_SUMMARY)
    .option('--keep-sub-missions', 'let its sub-missions continue')
  does(cancel, async (cli, [id], { keepSubMissions }) => {
    const asked = { mission_id: id, ...(keepSubMissions ? { sub_missions: false } : {}) }
    const cancelled = await cli.ask<MissionView & { sub_missions_cancelled: number }>('cancel_mission', asked)
    await tellMission(cli, cancelled, 'Cancelled')
    const { sub_missions_cancelled: count } = cancelled
    if (count) cli.terminal.note(`Also cancelled ${count} ${count === 1 ? 'sub-mission' : 'sub-missions'}.`)
  })

  const land = mission
    .command('land')
    .description('show what would land, and land it on the base branch')
    .argument(ID, ID_SUMMARY)
  land
    .option('--commit <id>', 'id of the reviewed candidate, or its first letters; lands without asking')
    .option('--force', 'land even if checks fail')
    .option('-f, --follow', 'wait until it has landed')
  does(land, async (cli, [id], { commit, force, ...options }) => {
    const looked = commit ? { expected: commit } : await (await import('../landing.ts')).shown(cli, id!)
    if (!looked) return void cli.terminal.note('Nothing landed.')
    return goOn(cli, await cli.ask<MissionView>('land_mission', { mission_id: id, ...looked, force }), options)
  })

  const undo = mission.command('undo').description('undo a landing with a revert commit').argument(ID, ID_SUMMARY)
  undo.option('-f, --follow', 'wait until it is undone')
  does(undo, async (cli, [id], options) => {
    const undoing = await cli.ask<MissionView>('undo_mission', { mission_id: id })
    if (options.follow) return (await import('../follow.ts')).followMission(cli, undoing, 'undo')
    await tellMission(cli, undoing, 'Undoing')
  })

  const next = mission
    .command('next')
    .description('create a mission from the open points of its report; a second call returns the same mission')
    .argument(ID, ID_SUMMARY)
    .option('--again', 'create another one')
    .option('--dispatch', 'queue it right away')
  does(next, async (cli, [id], { again, dispatch }) => {
    const input = { mission_id: id, again: again === true, auto_dispatch: dispatch === true }
    await tellMission(cli, await cli.ask<MissionView>('generate_next', input), 'Follow-up')
  })

  const comment = mission
    .command('comment')
    .description('comment on it, or on a line of its diff')
    .argument(ID, ID_SUMMARY)
    .argument('<text>', 'the comment; - reads stdin')
  comment
    .option('--path <file>', 'the file it is about')
    .option('--line <n>', 'the line it is about', Number)
    .addOption(new Option('--side <side>', 'the line before or after the change').choices(['old', 'new']))
  does(comment, async (cli, [id, text], { path, line, side }) => {
    const answer = await cli.ask<{ id: string }>('comment_mission', {
      mission_id: id,
      body: await textFrom(cli, text!),
      path,
      line,
      side,
    })
    cli.terminal.tell(answer, () => cli.terminal.print('Comment saved.'))
  })
}

/** These commands differ only in what the fleet does with them. */
function addAgain(parent: Command, verb: 'retry' | 'resume' | 'reopen' | 'fork', summary: string): Command {
  const command = parent.command(verb).description(summary).argument(ID, ID_SUMMARY)
  addFields(command, RUN_FIELDS)
    .option('-m, --message <text>', 'message for the agent, this time only')
    .option('-f, --follow', 'watch it until it ends')
  does(command, async (cli, [id], options) => {
    const message = options.message === undefined ? undefined : await textFrom(cli, String(options.message))
    return goOn(
      cli,
      await cli.ask<MissionView>(`${verb}_mission`, {
        mission_id: id,
        ...inputFrom(RUN_FIELDS, options),
        message,
        ...(options.fresh === true && { fresh: true }),
      }),
      options,
    )
  })
  return command
}

export async function createMission(
  cli: Cli,
  argument: string,
  options: Record<string, unknown>,
  dispatch: boolean,
): Promise<MissionView> {
  const prompt = await textFrom(cli, argument)
  const place = options.project === undefined ? await projectHere(cli) : undefined
  const project_id = place?.project.id ?? (await projectRef(cli, String(options.project)))
  const input = { title: titleOf(prompt), subdirectory: place?.subdirectory, ...inputFrom(MISSION_FIELDS, options) }
  const mission = await cli.ask<MissionView>('create_mission', {
    ...input,
    project_id,
    detailed_prompt: prompt,
    auto_dispatch: dispatch,
  })
  if (dispatch) await (await cli.client()).wake()
  return mission
}

async function goOn(cli: Cli, mission: MissionView, options: Record<string, unknown>): Promise<number | undefined> {
  if (options.follow) return (await import('../follow.ts')).followMission(cli, mission)
  await tellMission(cli, mission)
}
