import { type Command, Option } from 'commander'
import type { MissionView } from '../../operations/views.ts'
import { addFields, type Cli, does, inputFrom, textFrom } from '../command.ts'
import { addImageOption, imagesFrom } from '../images.ts'
import { MISSION_FIELDS, RUN_FIELDS } from '../mission-fields.ts'
import { projectHere, projectRef } from '../project-here.ts'
import { titleOf } from '../show.ts'
import { describeMission, printPath, tellMission } from '../show-mission.ts'
import { addAgain, addCancel, addLand, addList, addRetry, addUndo, goOn, ID, ID_SUMMARY } from './everyday.ts'
import { addTask } from './task.ts'

const PROMPT_SUMMARY = 'what the agent should do; - reads stdin, @file reads a file'

export function addMission(program: Command): void {
  const mission = program.command('mission').alias('task').description('create and manage missions')

  addTask(mission)

  const create = mission.command('create').description('create a mission').argument('<prompt>', PROMPT_SUMMARY)
  addImageOption(addFields(create, MISSION_FIELDS))
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('--dispatch', 'queue it right away; it starts when its dependencies are done')
  does(create, async (cli, [prompt], options) => {
    await tellMission(cli, await createMission(cli, prompt!, options, options.dispatch === true), 'Created')
  })

  addList(mission)

  does(
    mission
      .command('show')
      .description('show a mission: state, settings, sessions, report and checks')
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
  addImageOption(addFields(edit, MISSION_FIELDS), '; replaces those it has').option('--prompt <prompt>', PROMPT_SUMMARY)
  does(edit, async (cli, [id], options) => {
    const prompt = options.prompt === undefined ? {} : { detailed_prompt: await textFrom(cli, String(options.prompt)) }
    await tellMission(
      cli,
      await cli.ask<MissionView>('update_mission', {
        mission_id: id,
        ...inputFrom(MISSION_FIELDS, options),
        ...(await imagesFrom(cli, options)),
        ...prompt,
      }),
      'Changed',
    )
  })

  does(
    mission
      .command('push')
      .description('show what would be pushed, ask, and push exactly that to its branch of the remote')
      .argument(ID, ID_SUMMARY)
      .option('-y, --yes', 'push what is shown, without asking')
      .option('--commit <id>', 'push exactly this candidate: its id or first letters, from fleet diff --id'),
    async (cli, [id], { commit, yes }) => {
      const looked = commit
        ? { expected: commit }
        : await (await import('../landing.ts')).shown(cli, id!, { ask: yes !== true, verb: 'push' })
      if (!looked) return void cli.terminal.note('Nothing was pushed.')
      const pushed = await cli.ask<MissionView>('push_mission', { mission_id: id, ...looked })
      cli.terminal.tell(pushed, () => {
        const { remote, branch, address, url } = pushed.pushed!
        cli.terminal.print(cli.terminal.foreign(`Pushed ${branch} to ${remote} (${address}).`))
        if (url) cli.terminal.print(cli.terminal.foreign(url))
      })
    },
  )

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

  addRetry(mission)
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

  addCancel(mission)
  addLand(mission)
  addUndo(mission)

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
    .option('--start-line <n>', 'the first of several lines it is about, up to --line', Number)
    .addOption(new Option('--side <side>', 'the line before or after the change').choices(['old', 'new']))
  does(comment, async (cli, [id, text], { path, line, startLine, side }) => {
    const answer = await cli.ask<{ id: string }>('comment_mission', {
      mission_id: id,
      body: await textFrom(cli, text!),
      path,
      line,
      start_line: startLine,
      side,
    })
    cli.terminal.tell(answer, () => cli.terminal.print('Comment saved.'))
  })
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
    ...(await imagesFrom(cli, options)),
    project_id,
    detailed_prompt: prompt,
    auto_dispatch: dispatch,
  })
  if (dispatch) await (await cli.client()).wake()
  return mission
}
