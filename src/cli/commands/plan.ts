import type { Command } from 'commander'
import * as z from 'zod'
import { InvalidInput } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import { PlannedMission } from '../../domain/records/plan.ts'
import type { PlanView } from '../../operations/plans.ts'
import { type Cli, does, textFrom } from '../command.ts'
import { EXIT } from '../exit.ts'
import { addImageOption, imagesFrom } from '../images.ts'
import { projectHere, projectRef } from '../project-here.ts'
import { age } from '../show.ts'
import { showPlan } from '../show-plan.ts'
import { untilThereIs } from '../until.ts'

const ID = '<plan>'
const ID_SUMMARY = 'id or first letters'

export function addPlan(program: Command): void {
  const plan = program
    .command('plan')
    .description('ask an agent for a plan of missions; nothing runs before you approve it')
    .argument('<goal>', 'what to build; - reads stdin, @file reads a file')
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('--new', 'create a new repository in FLEET_PROJECTS_DIR')
    .option('--name <name>', 'name of the new repository')
    .option('--agent <agent>', 'agent that plans')
    .option('--model <model>', 'model that plans')
    .option('--scripts', 'allow missions that are shell scripts')
    .option('-y, --yes', 'start the missions without asking')
    .option('-d, --detach', 'do not wait for the plan')
  addImageOption(plan)
  does(plan, async (cli, [goal], options) => {
    const made = await cli.ask<PlanView>('plan_project', {
      prompt: await textFrom(cli, goal!),
      ...(await whereFrom(cli, options)),
      ...(await imagesFrom(cli, options)),
      agent: options.agent,
      model: options.model,
      approve: options.yes === true,
      scripts: options.scripts === true,
    })
    if (options.detach) return showPlan(cli, made)
    const planned = await settled(cli, made, options.yes === true)
    showPlan(cli, planned)
    return exitOf(planned)
  })

  does(plan.command('show').description('show a plan as a graph').argument(ID, ID_SUMMARY), async (cli, [id]) =>
    showPlan(cli, await cli.ask<PlanView>('get_plan', { plan_id: id })),
  )

  const list = plan
    .command('list')
    .alias('ls')
    .description('list plans, newest first')
    .option('--limit <n>', 'maximum number', Number, 50)
  does(list, (cli, _, options) => listPlans(cli, options))

  does(
    plan
      .command('edit')
      .description('replace the missions of a plan')
      .argument(ID, ID_SUMMARY)
      .argument('<missions>', 'missions as `fleet plan show --json` prints them; @file reads a file, - reads stdin'),
    async (cli, [id, text]) =>
      showPlan(cli, await cli.ask<PlanView>('edit_plan', { plan_id: id, ...missionsFrom(await textFrom(cli, text!)) })),
  )

  does(
    plan.command('approve').description('create and start the missions of a plan').argument(ID, ID_SUMMARY),
    async (cli, [id]) => showPlan(cli, await cli.ask<PlanView>('approve_plan', { plan_id: id })),
  )

  const reject = plan.command('reject').description('reject a plan').argument(ID, ID_SUMMARY)
  reject.option('--reason <text>', 'why')
  does(reject, async (cli, [id], { reason }) => {
    return showPlan(cli, await cli.ask<PlanView>('reject_plan', { plan_id: id, reason }))
  })
}

async function whereFrom(cli: Cli, options: Record<string, unknown>): Promise<object> {
  if (options.new === true) return { name: options.name }
  if (options.project !== undefined) return { project_id: await projectRef(cli, String(options.project)) }
  return { project_id: (await projectHere(cli)).project.id }
}

const Missions = z.union([z.array(PlannedMission), z.object({ missions: z.array(PlannedMission) })])

/** A list of missions, or a whole plan without the fields that only the fleet sets. */
function missionsFrom(text: string): { missions: PlannedMission[] } {
  try {
    const given = Missions.parse(JSON.parse(text))
    return { missions: Array.isArray(given) ? given : given.missions }
  } catch (error) {
    throw new InvalidInput('missions', error instanceof z.ZodError ? z.prettifyError(error) : String(error))
  }
}

/** Waits until its planner has answered, or cannot go on without a person. */
async function settled(cli: Cli, { id, mission_id, project_id }: PlanView, approving: boolean): Promise<PlanView> {
  const { terminal } = cli
  const isUnderWay = ({ status, waits_for }: PlanView): boolean =>
    (status === 'planning' && !waits_for.some(each => each.kind === 'person')) || (approving && status === 'proposed')
  if (!terminal.json) terminal.note(`Planning (${shortId(id)}). Watch it: fleet logs -f ${shortId(mission_id)}`)
  return untilThereIs(await cli.client(), project_id, async () => {
    const now = await cli.ask<PlanView>('get_plan', { plan_id: id })
    terminal.progress(['planning', ...now.waits_for.map(each => each.text)].join(' · '))
    return isUnderWay(now) ? undefined : now
  })
}

function exitOf({ status }: PlanView): number {
  if (status === 'failed' || status === 'rejected') return EXIT.failed
  return status === 'planning' ? EXIT.person : EXIT.done
}

async function listPlans(cli: Cli, { project, limit }: Record<string, unknown>): Promise<undefined> {
  const { terminal } = cli
  const project_id = project === undefined ? undefined : await projectRef(cli, String(project))
  const answer = await cli.ask<{ plans: PlanView[] }>('list_plans', { project_id, limit })
  if (terminal.json) return void terminal.data(answer)
  if (answer.plans.length === 0)
    return void terminal.note('There are no plans yet. Ask for one: fleet plan "<what to build>"')
  terminal.table(
    [
      { title: 'ID', value: each => shortId(each.id) },
      { title: 'STATUS', value: each => each.status },
      { title: 'GOAL', value: each => each.goal, flexible: true },
      { title: 'AGE', value: each => age(each.created_at), right: true },
    ],
    answer.plans,
  )
}
