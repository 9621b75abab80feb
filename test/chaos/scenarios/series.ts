import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoopView } from '../../../src/operations/loops.ts'
import type { PlanView } from '../../../src/operations/plans.ts'
import type { MissionView } from '../../../src/operations/views.ts'
import { eventually, NODE } from '../../kit/fleet.ts'
import { aPlanner, COMPLETE, FAILS, planOf } from '../../kit/planner.ts'
import { aWorker } from '../../kit/worker.ts'
import type { World } from '../world.ts'
import { landed, type Scenario } from './scenario.ts'

export const scheduled: Scenario = {
  name: 'a schedule that is due twice',
  async play(world) {
    const project = await world.project()
    const template = await world.mission(project, 'again', world.script('echo again >> again.txt'), {
      auto_dispatch: false,
      schedule_cron: '@yearly',
    })
    const copies = async () => {
      const { missions } = await world.ask<{ missions: MissionView[] }>('GET', '/api/missions')
      return missions.filter(each => each.scheduled && each.status === 'done').map(each => each.id)
    }
    for (const times of [1, 2]) {
      await world.ask('POST', `/api/schedules/${template.id}/run`)
      await eventually('a copy that has landed', async () => (await copies()).length === times)
    }
    return (await copies()).map(id => landed(id))
  },
}

export const looped: Scenario = {
  name: 'a plan in a new repository, and a loop whose first planner fails',
  async play(world) {
    const planner = aPlanner(world.fleet)
    const work = (key: string, after: string[] = []) => ({
      key,
      script: world.script(`echo ${key} > ${key}.txt`),
      after,
    })
    const plan = planOf(work('one'), work('two', ['one']))
    planner.says(planOf({ key: 'new', script: 'true' }), FAILS, plan, COMPLETE)
    const asked = await world.ask<{ id: string }>('POST', '/api/plan', {
      ...{ prompt: 'A new thing', agent: 'planner', scripts: true },
    })
    const statusOf = (id: string) => world.fleet.call<{ status: string }>('get_plan', { plan_id: id })
    await eventually('a proposal', async () => (await statusOf(asked.id)).status === 'proposed')
    const made = readdirSync(join(world.fleet.root, 'home', 'projects'))
    if (made.length !== 1) throw new Error(`made ${made} instead of one repository`)

    const project = await world.project({ checks: [{ name: 'ok', command: 'true' }] })
    await world.ask('POST', '/api/autoloop/start', {
      ...{ project_id: project.id, goal: 'Two files', agent: 'planner', scripts: true },
    })
    const loop = await eventually('the end of the loop', async () => {
      const found = await world.fleet.call<LoopView>('get_loop', { project_id: project.id })
      return found.ended_at ? found : undefined
    })
    const outcomes = loop.rounds.map(round => round.outcome).join()
    if (outcomes !== 'planning_failed,progress,complete') throw new Error(`lost: the rounds were ${outcomes}`)
    const { missions } = await world.fleet.call<PlanView>('get_plan', { plan_id: loop.rounds[1]!.plan_id })
    return missions.map(({ mission_id }) => landed(mission_id!))
  },
}

export const staged: Scenario = {
  name: 'a workflow that fans out and in, skips and ends, and is taken back with all that landed with it',
  async play(world) {
    const project = await world.project()
    const stage = (name: string, work: string, more: object = {}) => ({
      name,
      agent: 'shell',
      prompt: world.script(work),
      ...more,
    })
    const made = await world.ask<{ id: string }>('POST', '/api/workflows', {
      project_id: project.id,
      name: 'flow',
      stages: [
        stage('left', 'echo left > left.txt', { lands: false }),
        stage('right', 'echo right > right.txt', { lands: false }),
        stage('join', 'cat left.txt right.txt > both.txt', { depends_on: ['left', 'right'], lands: true }),
        stage('unless', 'echo no > no.txt', { depends_on: ['join'], when: { stage: 'join', status: ['failed'] } }),
      ],
    })
    type View = { status: string; stages: { mission_id: string }[] }
    const view = () => world.ask<View>('GET', `/api/workflows/${made.id}`)
    await eventually('the workflow is over', async () => (await view()).status === 'done')
    const [left, right, join, unless] = (await view()).stages.map(each => each.mission_id)
    await world.ask('POST', `/api/missions/${join}/undo`)
    await world.fleet.until(join!, 'review')
    await eventually('what landed with it is taken back', async () =>
      (await Promise.all([left!, right!].map(id => world.fleet.show(id)))).every(({ landed: with_ }) => !with_),
    )
    return [
      { ...landed(left!), landings: 0 },
      { ...landed(right!), landings: 0 },
      { ...landed(join!), status: 'review', undos: 1 },
      { id: unless!, status: 'cancelled', landings: 0, sessions: 0 },
    ]
  },
}

export const bridged: Scenario = {
  name: 'a bead of the home that is claimed, done and closed',
  env: {
    PATH: `${join(import.meta.dirname, '../../fixtures/beads')}:${join(NODE, '..')}:${process.env.PATH}`,
    FLEET_BEADS_BRIDGES: 'home',
    FLEET_BEADS_EVERY: '5',
    FLEET_LANDING: 'auto',
  },
  async before(world) {
    aWorker(world.fleet)
    const database = join(world.fleet.root, 'home/.beads/database')
    mkdirSync(database, { recursive: true })
    const bead = {
      id: 'bd-1',
      title: 'a bead',
      description: `do: ${world.script('echo bead > bead.txt').replaceAll('\n', '; ')}`,
      status: 'open',
    }
    const metadata = { fleet_directory: world.repo.path }
    writeFileSync(join(database, 'bd-1.json'), JSON.stringify({ ...bead, metadata }))
  },
  async play(world) {
    const database = join(world.fleet.root, 'home/.beads/database')
    await eventually('it is closed', () => readFileSync(join(database, 'bd-1.json'), 'utf8').includes('"closed"'))
    const closed = readFileSync(join(database, 'closed.log'), 'utf8').trim().split('\n')
    if (closed.length !== 1) throw new Error(`doubled: closed ${closed.length} times`)
    const { missions } = await world.ask<{ missions: MissionView[] }>('GET', '/api/missions')
    return missions.map(({ id }) => landed(id))
  },
}

export const kept: Scenario = {
  name: 'a preview of landed work, started and stopped',
  async play(world) {
    const serve = "require('node:http').createServer((_, to) => to.end('here')).listen(process.env.PORT, '127.0.0.1')"
    const preview = `echo "start $FLEET_SESSION $$" >> '${world.log}'; exec node -e "${serve}"`
    const project = await world.project({ preview_command: preview })
    const mission = await world.mission(project, 'to be shown', world.script('echo shown > shown.txt'))
    await world.fleet.until(mission.id, 'done')
    const path = `/api/missions/${mission.id}/preview`
    const until = (status: string) =>
      eventually(`the preview ${status}`, async () => (await previewOf(world, mission.id))?.status === status)
    await world.ask('POST', path)
    await until('up')
    await world.ask('DELETE', path)
    await until('ended')
    return [landed(mission.id)]
  },
}

const previewOf = async ({ fleet: { fleet } }: World, mission: string) =>
  (await fleet.store.find('processes', { index: 'mission', equals: [mission], limit: 1 })).items[0]?.value
