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
const ID_SUMMARY = 'its id, or the first letters of it'
const PROMPT_SUMMARY = 'what the agent should do; - reads it from the input, @file from a file'

export function addMission(program: Command): void {
  const mission = program.command('mission').alias('task').description('pieces of work for agents')

  addTask(mission)

  const create = mission.command('create').description('describe a piece of work').argument('<prompt>', PROMPT_SUMMARY)
  addFields(create, MISSION_FIELDS)
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('--dispatch', 'queue it at once; it starts when what it depends on is done')
  does(create, async (cli, [prompt], options) => {
    await tellMission(cli, await createMission(cli, prompt!, options, options.dispatch === true), 'Made')
  })

  const list = mission
    .command('list')
    .alias('ls')
    .description('list missions, newest first')
    .option('--project <project>', 'only of this project: id, name or path')
    .addOption(new Option('--status <status>', 'only with this status').choices(STATUSES))
    .option('--tag <tag>', 'only with this tag')
    .option('--agent <agent>', 'only of this agent')
    .option('--text <text>', 'only with this in the title or the beginning of the prompt')
    .option('--parent <mission>', 'only sub-missions of this one')
    .option('--limit <n>', 'how many at most', Number, 50)
    .option('--cursor <cursor>', 'go on where an earlier list ended')
  does(list, async (cli, _, { project, parent, status, tag, agent, text, limit, cursor }) => {
    const project_id = project === undefined ? undefined : await projectRef(cli, String(project))
    await listMissions(cli, { project_id, parent_mission_id: parent, status, tag, agent, text, limit, cursor })
  })

  does(
    mission
      .command('show')
      .description('show a mission with its sessions, report, evidence and comments')
      .argument(ID, ID_SUMMARY)
      .option('--checks', 'with all that its checks printed'),
    (cli, [id], { checks }) => describeMission(cli, id!, { checks: checks === true }),
  )

  does(
    mission
      .command('path')
      .description('print the folder it works in, as for cd "$(fleet mission path …)"')
      .argument(ID, ID_SUMMARY),
    (cli, [id]) => printPath(cli, id!),
  )

  const edit = mission
    .command('edit')
    .description('change a mission; an empty value takes a setting back')
    .argument(ID, ID_SUMMARY)
  addFields(edit, MISSION_FIELDS).option('--prompt <prompt>', PROMPT_SUMMARY)
  does(edit, async (cli, [id], options) => {
    const prompt = options.prompt === undefined ? {} : { detailed_prompt: await textFrom(cli, String(options.prompt)) }
    await tellMission(
      cli,
      await ask(cli, 'update_mission', { mission_id: id, ...inputFrom(MISSION_FIELDS, options), ...prompt }),
      'Changed',
    )
  })

  does(
    mission
      .command('delete')
      .alias('rm')
      .description('forget a mission; its work stays in the repository under refs/fleet')
      .argument(ID, ID_SUMMARY)
      .option('--discard', 'also what of its work no commit holds'),
    async (cli, [id], { discard }) => {
      const input = { mission_id: id, ...(discard === true && { discard }) }
      const answer = await (await cli.client()).call<{ deleted: string }>('delete_mission', input)
      if (cli.terminal.json) cli.terminal.data(answer)
      else cli.terminal.print(`Forgot mission ${answer.deleted}.`)
    },
  )

  const dispatch = mission
    .command('dispatch')
    .description('send an agent to work on it; settings named here stay with the mission')
    .argument(ID, ID_SUMMARY)
  addFields(dispatch, RUN_FIELDS)
    .option('--instructions <text>', 'extra instructions, for this session only')
    .option('-f, --follow', 'stream it until it is over')
  does(dispatch, async (cli, [id], options) => {
    const extra = options.instructions === undefined ? {} : { append_system_prompt: options.instructions }
    return goOn(
      cli,
      await ask(cli, 'dispatch_mission', { mission_id: id, ...inputFrom(RUN_FIELDS, options), ...extra }),
      options,
    )
  })

  addAgain(
    mission,
    'retry',
    'start over on a new branch; the old one is kept, and settings named here stay with the mission',
  )
  addAgain(mission, 'resume', 'go on in the same worktree and conversation; settings named here stay with the mission')
  addAgain(mission, 'reopen', 'send a done mission back to work; settings named here stay with the mission')
  addAgain(mission, 'fork', 'try another way: a second mission with its work and a copy of its conversation').option(
    '--fresh',
    'with a new conversation and a written hand-over instead',
  )

  does(
    mission.command('cancel').description('stop it; its work is kept on its branch').argument(ID, ID_SUMMARY),
    async (cli, [id]) => {
      await tellMission(cli, await ask(cli, 'cancel_mission', { mission_id: id }), 'Cancelled')
    },
  )

  const land = mission
    .command('land')
    .description('show what would land, and bring it onto the base branch')
    .argument(ID, ID_SUMMARY)
  land
    .option('--commit <id>', 'the candidate that was looked at, or the beginning of its id: nothing is asked')
    .option('--force', 'even though its checks fail')
    .option('-f, --follow', 'wait until it has landed')
  does(land, async (cli, [id], { commit, force, ...options }) => {
    const looked = commit ? { expected: commit } : await (await import('../landing.ts')).shown(cli, id!)
    if (!looked) return void cli.terminal.note('Nothing was landed.')
    return goOn(cli, await ask(cli, 'land_mission', { mission_id: id, ...looked, force }), options)
  })

  const undo = mission.command('undo').description('take it back with a revert commit').argument(ID, ID_SUMMARY)
  undo.option('-f, --follow', 'wait until it has been taken back')
  does(undo, async (cli, [id], options) => {
    const undoing = await ask(cli, 'undo_mission', { mission_id: id })
    if (options.follow) return (await import('../follow.ts')).followMission(cli, undoing, 'undo')
    await tellMission(cli, undoing, 'Undoing')
  })

  const next = mission
    .command('next')
    .description('make a mission of what its report leaves to do; asked for twice, it is the same one')
    .argument(ID, ID_SUMMARY)
    .option('--again', 'make another one')
    .option('--dispatch', 'queue it at once')
  does(next, async (cli, [id], { again, dispatch }) => {
    const input = { mission_id: id, again: again === true, auto_dispatch: dispatch === true }
    await tellMission(cli, await ask(cli, 'generate_next', input), 'Follow-up')
  })

  const comment = mission
    .command('comment')
    .description('leave a remark on it, or on a line of its diff')
    .argument(ID, ID_SUMMARY)
    .argument('<text>', 'the remark; - reads it from the input')
  comment
    .option('--path <file>', 'the file it is about')
    .option('--line <n>', 'the line it is about', Number)
    .addOption(new Option('--side <side>', 'the line before or after the change').choices(['old', 'new']))
  does(comment, async (cli, [id, text], { path, line, side }) => {
    const answer = await (await cli.client()).call<{ id: string }>('comment_mission', {
      mission_id: id,
      body: await textFrom(cli, text!),
      path,
      line,
      side,
    })
    if (cli.terminal.json) cli.terminal.data(answer)
    else cli.terminal.print('Noted.')
  })
}

/** These differ only in what the fleet does with them. */
function addAgain(parent: Command, verb: 'retry' | 'resume' | 'reopen' | 'fork', summary: string): Command {
  const command = parent.command(verb).description(summary).argument(ID, ID_SUMMARY)
  addFields(command, RUN_FIELDS)
    .option('-m, --message <text>', 'what to tell the agent, this time only')
    .option('-f, --follow', 'stream it until it is over')
  does(command, async (cli, [id], options) => {
    const message = options.message === undefined ? undefined : await textFrom(cli, String(options.message))
    return goOn(
      cli,
      await ask(cli, `${verb}_mission`, {
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

const ask = async (cli: Cli, operation: string, input: object): Promise<MissionView> =>
  (await cli.client()).call<MissionView>(operation, input)

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
  const mission = await ask(cli, 'create_mission', {
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
