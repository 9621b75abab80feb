import { NotAllowed } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { Mission, MissionSettings } from '../../domain/records/mission.ts'
import type { Report } from '../../domain/records/report.ts'
import * as life from '../../domain/rules/life.ts'
import { named } from '../../domain/rules/named.ts'
import { describeReport } from '../../domain/rules/prompt.ts'
import { clipped } from '../../domain/text.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { current, derivedId, newestReport, put } from '../records.ts'
import { requireCodingAgent } from './agents.ts'
import { dispatchMission, projectOf } from './missions.ts'

const TITLE_CHARS = 300

/**
 * Makes a mission of what the newest report of another one leaves to do. The same request again gives the same mission,
 * unless the report is new or `again` is set.
 */
export async function followUp(
  fleet: Fleet,
  ask: Ask,
  originId: string,
  { again, dispatch }: { again: boolean; dispatch: boolean },
): Promise<Stored<Mission>> {
  const id = await oncePerKey(fleet, ask, async () => {
    const origin = await current(fleet, 'missions', originId)
    if (origin.value.deleting) throw new NotAllowed(`Mission ${originId} is being deleted.`)
    const report = await reportToFollow(fleet, origin.value)
    const next = again ? newId() : derivedId('next', originId, report.id)
    if (await fleet.store.get('missions', next)) return { subject: next, changes: [] }
    const when = by(fleet, ask)
    // Its prompt is prose, so an agent that runs scripts does not get it.
    const agent = origin.value.script ? null : origin.value.agent
    if (agent === null) await requireCodingAgent(fleet, await projectOf(fleet, originId))
    const draft = Mission.parse({
      ...MissionSettings.parse(origin.value),
      agent,
      title: clipped(`Next: ${origin.value.title.replace(/^(Next: )+/, '')}`, TITLE_CHARS),
      acceptance_criteria: '',
      // It continues from what the first one left, wherever that started.
      start_from: 'base',
      base_ref: null,
      // A failed mission would keep it waiting for ever, so it depends only on one that did not fail.
      depends_on: ['failed', 'cancelled'].includes(origin.value.status) ? [] : [originId],
      id: next,
      project_id: origin.value.project_id,
      follows: originId,
      prompt: await fleet.blobs.keep(promptFor(origin.value, report)),
      status: 'draft',
      created_at: when.now,
      updated_at: when.now,
    })
    const data = { title: draft.title, follows: originId, was: null, status: 'draft' }
    return {
      subject: next,
      changes: [
        put('missions', draft, 'absent'),
        put('missions', { ...origin.value, dependents: named(origin.value.dependents, next) }, origin.version),
      ],
      events: [life.about(draft, 'mission_created', when, { data })],
    }
  })
  const made = await current(fleet, 'missions', id)
  if (!dispatch || made.value.status !== 'draft') return made
  return dispatchMission(fleet, { ...ask, operation: `${ask.operation}: dispatch` }, id)
}

const left = ({ next_steps, what_open }: Report): string[] => [...new Set([...next_steps, ...what_open])]

async function reportToFollow(fleet: Fleet, origin: Mission): Promise<Report> {
  const report = await newestReport(fleet, origin.id)
  if (!report) throw new NotAllowed(`Mission ${origin.id} has no report yet.`, { try: `fleet show ${origin.id}` })
  if (left(report).length === 0)
    throw new NotAllowed(`There is nothing to do: the report of mission ${origin.id} leaves nothing open.`, {
      try: `fleet show ${origin.id}`,
    })
  return report
}

const promptFor = (origin: Mission, report: Report): string =>
  [
    `Go on where the mission ${JSON.stringify(origin.title)} stopped. It left this to do:`,
    left(report)
      .map(step => `- ${step}`)
      .join('\n'),
    `## What it reports\n\n${describeReport(report)}`,
  ].join('\n\n')
