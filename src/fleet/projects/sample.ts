import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Mission, MissionSettings } from '../../domain/records/mission.ts'
import { NewProject, type Project } from '../../domain/records/project.ts'
import { TeamFile } from '../../domain/records/team-file.ts'
import * as life from '../../domain/rules/life.ts'
import { makeRepository } from '../../git/index.ts'
import { Turns } from '../../git/turns.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { isScript } from '../missions/agents.ts'
import { startCommit } from '../missions/missions.ts'
import { all, current, derivedId, put } from '../records.ts'
import { createTeam } from '../teams/creating.ts'
import { sendMail } from '../teams/mail.ts'
import { personIn } from '../teams/members.ts'
import { teamsOf } from '../teams/teams.ts'
import { newRepositories } from './new-projects.ts'
import { createProject, freeName, realFolder, requireAllowed } from './projects.ts'
import { SAMPLE_BEGINNING, SAMPLE_CHECKS, SAMPLE_MISSIONS, type SampleMission } from './sample-missions.ts'
import { SAMPLE_GOAL, sampleTeam } from './sample-team.ts'

/**
 * The sample project, made with its missions, or with a team of scripts, if there is none. Asking again completes what
 * a crash cut short, and changes nothing else.
 */
export function createSampleProject(fleet: Fleet, ask: Ask, { team }: { team: boolean }): Promise<Project> {
  return turns.take(fleet.home.path, async () => {
    const project = (await sampleOf(fleet, team)) ?? (await makeSample(fleet, ask, team))
    if (team) await addTeam(fleet, ask, project)
    else await addMissions(fleet, { ...ask, operation: `${ask.operation}: missions` }, project)
    return (await current(fleet, 'projects', project.id)).value
  })
}
/** Of two who ask at once, the second gets what the first made. */
const turns = new Turns()

async function sampleOf(fleet: Fleet, team: boolean): Promise<Project | undefined> {
  const wanted = team ? 'team' : true
  for await (const { value } of all(fleet, 'projects', 'created'))
    if (value.sample === wanted && !value.deleting) return value
  return undefined
}

async function makeSample(fleet: Fleet, ask: Ask, team: boolean): Promise<Project> {
  const path = freeFolder(await newRepositories(fleet), team ? 'demo-team' : 'demo')
  requireAllowed(fleet, realFolder(dirname(path)))
  await makeRepository(path, SAMPLE_BEGINNING)
  const fields = {
    ...NewProject.parse({
      name: await freeName(fleet, team ? 'Demo team' : 'Demo'),
      description: `${team ? 'Four scripts build a small ship as a team' : 'Eight scripts build a small ship'}. Look around, and delete it when you like.`,
      landing: team ? 'auto' : 'review',
      checks: SAMPLE_CHECKS,
    }),
    path,
    sample: team ? ('team' as const) : true,
  }
  return (await createProject(fleet, { ...ask, operation: `${ask.operation}: project` }, fields, 'return')).value
}

/** The team is told what to do once, whoever asks again. */
async function addTeam(fleet: Fleet, ask: Ask, project: Project): Promise<void> {
  const known = (await teamsOf(fleet, project.id)).find(({ ended_at }) => ended_at === null)
  const wanted = {
    name: 'shipyard',
    ...TeamFile.parse({
      description: 'Four scripts build a small ship.',
      members: sampleTeam(thisProgram()).map(member => ({ ...member, agent: 'shell' })),
    }),
  }
  const team =
    known ?? (await createTeam(fleet, { ...ask, operation: `${ask.operation}: team` }, project.id, wanted)).value
  const person = await personIn(fleet, team, { actor: 'person', name: 'operator', role: 'team-lead' })
  const goal = { to: ['captain'], subject: 'A ship', body: SAMPLE_GOAL, priority: 'normal', needs: 'reply' } as const
  const letter = { ...goal, deadline: null, reply_to: null, wake: true, key: 'sample goal' }
  if (team.roster.some(({ handle }) => handle === 'captain')) await sendMail(fleet, team.id, person, letter, ask.actor)
}

/** How a shell starts this program. */
const thisProgram = (): string =>
  [process.execPath, ...process.execArgv, process.argv[1]!].map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')

/** The repository of an earlier sample stays if a person has put something into it. */
function freeFolder(folder: string, name: string): string {
  for (let number = 1; ; number++) {
    const path = join(folder, number === 1 ? name : `${name}-${number}`)
    if (!existsSync(path)) return path
  }
}

/** All in one commit, so that none is ever missing. */
async function addMissions(fleet: Fleet, ask: Ask, project: Project): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'projects', project.id)
    const any = await fleet.store.find('missions', { index: 'project', equals: [project.id], limit: 1 })
    if (any.items.length) return { subject: project.id, changes: [] }
    const first = await startCommit(value, value.base_branch)
    const when = by(fleet, ask)
    const made = await Promise.all(
      SAMPLE_MISSIONS.map(async sample => ({
        sample,
        prompt: await fleet.blobs.keep(sample.script),
        script: isScript(fleet, ask, 'shell'),
      })),
    )
    const steps = made.map(({ sample, ...rest }, i) =>
      queued(value.id, sample, { ...rest, first, when, created_at: inOrder(when.now, i) }),
    )
    return {
      subject: project.id,
      changes: steps.map(({ mission }) => put('missions', mission, 'absent')),
      checks: [{ collection: 'projects', id: value.id, expects: version }],
      events: steps.flatMap(({ events }) => events),
    }
  })
}

/** Lists show them in the order of their times. */
const inOrder = (now: string, index: number): string => new Date(Date.parse(now) + index).toISOString()

function queued(
  projectId: string,
  sample: SampleMission,
  { first, when, ...fields }: Pick<Mission, 'prompt' | 'script' | 'created_at'> & { first: string; when: life.By },
): life.Step {
  const idOf = (key: string): string => derivedId('sample mission', projectId, when.now, key)
  const draft = Mission.parse({
    ...MissionSettings.parse({
      title: sample.title,
      agent: 'shell',
      landing: sample.landing,
      max_retries: sample.retries ?? 0,
      depends_on: sample.after.map(idOf),
      base_ref: sample.fromFirst ? first : null,
    }),
    ...fields,
    id: idOf(sample.key),
    project_id: projectId,
    dependents: SAMPLE_MISSIONS.filter(({ after }) => after.includes(sample.key)).map(({ key }) => idOf(key)),
    status: 'draft',
    updated_at: when.now,
  })
  const created = life.about(draft, 'mission_created', when, {
    data: { title: draft.title, was: null, status: 'draft' },
  })
  const { mission, events } = life.dispatch(draft, sample.after.length === 0, null, when, 'auto_dispatched')
  return { mission, events: [created, ...events] }
}
