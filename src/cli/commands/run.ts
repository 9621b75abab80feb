import type { Command } from 'commander'
import type { MissionView } from '../../operations/views.ts'
import { addFields, does } from '../command.ts'
import { addImageOption } from '../images.ts'
import { MISSION_FIELDS } from '../mission-fields.ts'
import { tellMission } from '../show-mission.ts'
import { createMission } from './mission.ts'

const whoRuns = ({ done_by, script }: MissionView): string =>
  script ? `${done_by} runs it as a script.` : `${done_by} works on it.`

export function addRun(program: Command): void {
  const run = program
    .command('run')
    .description('start an agent on the repository you are in, and watch it until its work lands or waits for you')
    .argument('<prompt>', 'what to do; with --agent shell, a script; - reads stdin, @file reads a file')
  addImageOption(addFields(run, MISSION_FIELDS))
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('-d, --detach', 'do not wait for it')
    .addHelpText('after', '\nCtrl-C asks whether to detach or to cancel; without a terminal it detaches.')
  does(run, async (cli, [prompt], options) => {
    const mission = await createMission(cli, prompt!, options, true)
    if (!cli.terminal.json) cli.terminal.note(whoRuns(mission))
    if (options.detach) return void (await tellMission(cli, mission, 'Queued'))
    return (await import('../follow.ts')).followMission(cli, mission)
  })
}
