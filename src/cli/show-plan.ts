import { shortId } from '../domain/ids.ts'
import type { PlanView } from '../operations/plans.ts'
import { safeLine } from '../platform/safe-text.ts'
import type { Cli } from './command.ts'
import { inStatusColour } from './show.ts'

type Planned = PlanView['missions'][number]

/** A plan as steps from top to bottom; an arrow names what a mission needs. */
export function showPlan({ terminal }: Cli, plan: PlanView): undefined {
  if (terminal.json) return void terminal.data(plan)
  const id = shortId(plan.id)
  terminal.print(
    `Plan ${terminal.paint('bold', id)}: ${inStatusColour(terminal, COLOUR_AS[plan.status], plan.status)}  ${safeLine(plan.goal).slice(0, 80)}`,
  )
  for (const text of [plan.summary, plan.reason ?? '', ...plan.waits_for.map(each => `Waits: ${each.text}`)])
    if (text) terminal.print(terminal.foreign(text))
  for (const line of drawing(plan, text => terminal.paint('dim', text))) terminal.print(line)
  if (plan.missions.length) terminal.print(total(plan))
  if (plan.status === 'proposed') {
    terminal.note(`Start it: fleet plan approve ${id}`)
    terminal.note(`Change it: fleet plan show ${id} --json > plan.json, edit that, fleet plan edit ${id} @plan.json`)
  }
}

/** The status of a mission that has the right colour. */
const COLOUR_AS: Record<PlanView['status'], string> = {
  planning: 'running',
  proposed: 'review',
  approved: 'done',
  complete: 'done',
  rejected: 'cancelled',
  failed: 'failed',
}

export function drawing(
  { missions, steps }: Pick<PlanView, 'missions' | 'steps'>,
  faint = (text: string) => text,
): string[] {
  const width = Math.max(0, ...missions.map(each => each.key.length))
  const byKey = new Map(missions.map(each => [each.key, each]))
  const lineOf = (each: Planned): string =>
    [
      `  ${each.key.padEnd(width)}`,
      safeLine(each.title),
      each.depends_on.length ? `← ${each.depends_on.join(', ')}` : '',
      faint(safeLine(detail(each))),
    ]
      .filter(Boolean)
      .join('  ')
  return steps.flatMap((keys, step) => [...(step ? ['  ↓'] : []), ...keys.map(key => lineOf(byKey.get(key)!))])
}

const detail = ({ agent, model, mission_type, estimate_minutes, estimate_usd, mission_id, status }: Planned): string =>
  `(${[
    mission_id && `${shortId(mission_id)} ${status}`,
    mission_type,
    [agent, model].filter(Boolean).join(' '),
    estimate_minutes !== null && `${estimate_minutes} min`,
    estimate_usd !== null && `$${estimate_usd.toFixed(2)}`,
  ]
    .filter(Boolean)
    .join(', ')})`

function total({ estimate: { missions, minutes, longest_minutes, usd } }: PlanView): string {
  const guesses = [
    minutes !== null && `${minutes} min of work, at least ${longest_minutes} min`,
    usd !== null && `$${usd.toFixed(2)}`,
  ].filter(Boolean)
  return `${missions} ${missions === 1 ? 'mission' : 'missions'}${guesses.length ? `; estimate: ${guesses.join(', ')}` : ''}.`
}
