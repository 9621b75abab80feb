import { type Command, Option } from 'commander'
import { STATUSES } from '../../domain/records/mission.ts'
import type { MissionView } from '../../operations/views.ts'
import { addFields, type Cli, does, inputFrom, textFrom } from '../command.ts'
import { addImageOption, imagesFrom } from '../images.ts'
import { RUN_FIELDS } from '../mission-fields.ts'
import { projectRef } from '../project-here.ts'
import { listMissions, tellMission } from '../show-mission.ts'

export const ID = '<mission>'
export const ID_SUMMARY = 'id or first letters'

/** The commands on missions that people use most. Each is also below `fleet mission`. */
export function addEveryday(program: Command): void {
  for (const add of [addList, addLand, addUndo, addRetry, addCancel]) add(program)
}

export function addList(parent: Command): void {
  const list = parent
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
}

export function addCancel(parent: Command): void {
  const cancel = parent
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
}

export function addLand(parent: Command): void {
  const land = parent
    .command('land')
    .description('show what would land, ask, and land exactly that on the base branch')
    .argument(ID, ID_SUMMARY)
    .option('-y, --yes', 'land what is shown, without asking')
    .option('--commit <id>', 'land exactly this candidate: its id or first letters, from fleet diff --id')
    .option('--force', 'land even if checks fail')
    .option('-f, --follow', 'wait until it has landed, as on a terminal')
  does(land, async (cli, [id], { commit, yes, force, follow }) => {
    const looked = commit
      ? { expected: commit }
      : await (await import('../landing.ts')).shown(cli, id!, { ask: yes !== true })
    if (!looked) return void cli.terminal.note('Nothing landed.')
    const landing = await cli.ask<MissionView>('land_mission', { mission_id: id, ...looked, force })
    return goOn(cli, landing, { follow: follow || cli.terminal.interactive })
  })
}

export function addUndo(parent: Command): void {
  const undo = parent
    .command('undo')
    .description('undo a landing with a revert commit')
    .argument(ID, ID_SUMMARY)
    .option('-f, --follow', 'wait until it is undone, as on a terminal')
  does(undo, async (cli, [id], { follow }) => {
    const undoing = await cli.ask<MissionView>('undo_mission', { mission_id: id })
    if (follow || cli.terminal.interactive) return (await import('../follow.ts')).followMission(cli, undoing, 'undo')
    await tellMission(cli, undoing, 'Undoing')
  })
}

export const addRetry = (parent: Command): void =>
  void addAgain(
    parent,
    'retry',
    'start over on a new branch; the old one is kept, and settings given here are saved in the mission',
  )

/** These commands differ only in what the fleet does with them. */
export function addAgain(parent: Command, verb: 'retry' | 'resume' | 'reopen' | 'fork', summary: string): Command {
  const command = parent.command(verb).description(summary).argument(ID, ID_SUMMARY)
  addImageOption(addFields(command, RUN_FIELDS), ', this time only')
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
        ...(await imagesFrom(cli, options)),
        ...(options.fresh === true && { fresh: true }),
      }),
      options,
    )
  })
  return command
}

export async function goOn(
  cli: Cli,
  mission: MissionView,
  options: Record<string, unknown>,
): Promise<number | undefined> {
  if (options.follow) return (await import('../follow.ts')).followMission(cli, mission)
  await tellMission(cli, mission)
}
