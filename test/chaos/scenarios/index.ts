import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RepositoryOptions, runGit } from '../../../src/git/testkit.ts'
import type { LoopView } from '../../../src/operations/loops.ts'
import type { PlanView } from '../../../src/operations/plans.ts'
import type { MissionView } from '../../../src/operations/views.ts'
import { newestLaunch } from '../../../src/platform/launch-folder.ts'
import { identityOf } from '../../../src/runner/processes.ts'
import { eventually, NODE } from '../../kit/fleet.ts'
import { aGitHub, WITH_GH } from '../../kit/github.ts'
import { aPlanner, COMPLETE, FAILS, planOf } from '../../kit/planner.ts'
import { aWorker } from '../../kit/worker.ts'
import type { World } from '../world.ts'

export interface Expected {
  id: string
  status: string
  /** How many commits on the base branch bring its work, and how many take it back. */
  landings: number
  undos?: number
  /** How many sessions its agent ran. */
  sessions: number
}

export interface Scenario {
  name: string
  env?: Record<string, string>
  repository?: RepositoryOptions
  base?: string
  /** Before the first server is there. */
  before?(world: World): Promise<void>
  play(world: World): Promise<Expected[]>
}

/** An agent that commits itself: what it made is taken in. */
const AS_AGENT = 'git -c user.name=agent -c user.email=agent@example.com'

const landed = (id: string, sessions = 1): Expected => ({ id, status: 'done', landings: 1, sessions })

export const chain: Scenario = {
  name: 'setup, copied file, checks and a dependent',
  repository: { files: { '.gitignore': '.env\ndeps/\n', 'README.md': '# A project\n' } },
  before: world => world.repo.write('.env', 'SECRET=1\n'),
  async play(world) {
    const project = await world.project({
      copy_files: ['.env'],
      setup_command: world.command('setup', 'mkdir -p deps && echo ready > deps/installed'),
      checks: [
        { name: 'whole', command: world.command('check', 'test -e .env && test -e deps/installed && test -e a.txt') },
      ],
    })
    const a = await world.mission(
      project,
      'make a',
      world.script('test -e deps/installed && cat .env > /dev/null && echo a > a.txt'),
    )
    const b = await world.mission(
      project,
      'make b',
      world.script(`test -e a.txt && echo b > b.txt && git add b.txt && ${AS_AGENT} commit -qm b`),
      {
        depends_on: [a.id],
      },
    )
    await world.fleet.until(b.id, 'done')
    return [landed(a.id), landed(b.id)]
  },
}

export const conflict: Scenario = {
  name: 'two missions change one line',
  repository: { files: { 'shared.txt': 'nobody\n' } },
  async play(world) {
    const project = await world.project({
      checks: [{ name: 'clean', command: world.command('check', '! grep -q "<<<<" shared.txt') }],
    })
    const names = ['ann', 'bob']
    const resolve = 'if [ "$FLEET_REASON" = conflict ]; then printf "ann\\nbob\\n" > shared.txt; else'
    const together = names.map(name => world.gate(name).wait).join('; ')
    const missions = await Promise.all(
      names.map(name =>
        world.mission(
          project,
          name,
          world.script(`${resolve} : > '${world.gate(name).file}'; ${together}; echo ${name} > shared.txt; fi`),
        ),
      ),
    )
    const ends = await Promise.all(missions.map(({ id }) => world.fleet.until(id, 'done')))
    return ends.map(({ id, conflicts }) => landed(id, 1 + conflicts)).sort((a, b) => a.sessions - b.sessions)
  },
}

const cancel: Scenario = {
  name: 'cancel of an agent that will not end',
  async play(world) {
    const project = await world.project()
    const here = world.gate('here')
    const stubborn = `trap '' TERM; echo half > half.txt; setsid sh -c 'trap "" TERM; while :; do sleep 0.1; done' & : > '${here.file}'; while :; do sleep 0.1; done`
    const mission = await world.mission(
      project,
      'never ends',
      `echo "start $FLEET_SESSION $$" >> '${world.log}'\n${stubborn}`,
    )
    await eventually('the agent at work', () => existsSync(here.file))
    await world.ask('POST', `/api/missions/${mission.id}/cancel`)
    const { branch } = await world.fleet.until(mission.id, 'cancelled')
    if ((await world.repo.readOn(branch!, 'half.txt')) !== 'half') throw new Error('its work was not kept')
    return [{ id: mission.id, status: 'cancelled', landings: 0, sessions: 1 }]
  },
}

const undo: Scenario = {
  name: 'undo under a queued dependent, and landing again',
  base: 'trunk',
  before: async world => void (await world.repo.git('branch', 'trunk')),
  async play(world) {
    const project = await world.project({ base_branch: 'trunk' })
    const first = await world.mission(project, 'first', world.script('echo 1 > first.txt'))
    await world.fleet.until(first.id, 'done')
    await world.ask('POST', '/api/pause', { project_id: project.id })
    const second = await world.mission(project, 'second', world.script('test -e first.txt && echo 2 > second.txt'), {
      depends_on: [first.id],
    })
    await world.ask('POST', `/api/missions/${first.id}/undo`)
    await world.fleet.until(first.id, 'review')
    if ((await world.repo.filesOn('trunk')).includes('first.txt')) throw new Error('it was not undone')
    await eventually(
      'the dependent waits again',
      async () => !(await world.fleet.fleet.store.get('missions', second.id))!.value.ready,
    )
    await world.land(first.id)
    await world.fleet.until(first.id, 'done')
    await world.ask('POST', '/api/unpause', { project_id: project.id })
    await world.fleet.until(second.id, 'done')
    const files = await world.repo.filesOn('trunk')
    if (!files.includes('first.txt') || !files.includes('second.txt')) throw new Error(`lost: trunk has only ${files}`)
    return [{ ...landed(first.id), landings: 2, undos: 1 }, landed(second.id)]
  },
}

const review: Scenario = {
  name: 'a person adds to what waits for review, and a plugin is told of it all',
  async before(world) {
    const folder = join(world.fleet.root, 'home/plugins')
    mkdirSync(folder)
    const told = JSON.stringify(join(world.fleet.root, 'told'))
    const code = `import { appendFileSync } from 'node:fs'
      export default { hooks: { on_event: ({ event }) => appendFileSync(${told}, event.kind + '\\n') } }`
    writeFileSync(join(folder, 'told.mjs'), code)
  },
  async play(world) {
    const project = await world.project({ landing: 'review' })
    const mission = await world.mission(project, 'to look at', world.script('echo mine > agent.txt'))
    const { sessions } = await world.fleet.until(mission.id, 'review')
    writeFileSync(join(sessions[0]!.worktree!, 'person.txt'), 'theirs\n')
    await world.land(mission.id)
    await world.fleet.until(mission.id, 'done')
    if (!(await world.repo.filesOn('main')).includes('person.txt')) throw new Error("the person's change was lost")
    const told = () => readFileSync(join(world.fleet.root, 'told'), 'utf8').split('\n')
    for (const kind of ['session_ended', 'review_wanted', 'landed'])
      await eventually(
        `the plugin to be told of ${kind}`,
        () => told().includes(kind),
        () => told().join(' '),
      )
    return [landed(mission.id)]
  },
}

export const sentBack: Scenario = {
  name: 'remarks on what waits for review go back to its agent',
  async play(world) {
    const project = await world.project({ landing: 'review' })
    const work = 'if [ "$FLEET_REASON" = first ]; then echo a > a.txt; else cp "$FLEET_PROMPT_FILE" told.txt; fi'
    const { id } = await world.mission(project, 'to remark on', world.script(work))
    await world.fleet.until(id, 'review')
    await world.ask('POST', `/api/missions/${id}/comments`, { body: 'remark one', path: 'a.txt', line: 1 })
    await world.ask('POST', `/api/missions/${id}/comments`, { body: 'remark two' })
    await world.ask('POST', `/api/missions/${id}/send-back`, { message: 'please' })
    await eventually('its second session over', async () => {
      const { status, sessions } = await world.fleet.show(id)
      return status === 'review' && sessions.length === 2
    })
    await world.land(id)
    await world.fleet.until(id, 'done')
    const told = await world.repo.readOn('main', 'told.txt')
    if (told.match(/remark (one|two)/g)?.length !== 2) throw new Error(`lost or doubled: ${told}`)
    const { comments } = await world.fleet.show(id)
    if (!comments.every(({ sent_at }) => sent_at)) throw new Error('lost: a remark does not know that it was told')
    return [landed(id, 2)]
  },
}

const forget: Scenario = {
  name: 'clean and delete, with a submodule',
  async before(world) {
    const library = join(world.repo.root, 'library')
    await runGit(world.repo.root, ['clone', '--quiet', world.repo.path, library])
    await world.repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'library')
    await world.repo.commit('with a library')
  },
  async play(world) {
    const project = await world.project({ landing: 'never' })
    const kept = await Promise.all(
      ['one', 'two', 'three'].map(name =>
        world.mission(project, name, world.script(`test -e library/README.md && echo ${name} > ${name}.txt`)),
      ),
    )
    for (const { id } of kept) await world.fleet.until(id, 'done')
    const [one, two] = kept
    await world.ask('POST', `/api/missions/${one!.id}/comments`, { body: 'well done' })
    await world.ask('DELETE', `/api/missions/${one!.id}`)
    await world.ask('POST', '/api/clean')
    await world.ask('DELETE', `/api/missions/${two!.id}`)
    await world.ask('DELETE', `/api/projects/${project.id}`)
    await eventually(
      'all forgotten',
      async () => (await everythingLeft(world)).length === 0,
      async () => (await everythingLeft(world)).join(', '),
    )
    const refs = (await world.repo.git('for-each-ref', '--format=%(refname)', 'refs/fleet')).split('\n')
    if (refs.length !== 3) throw new Error(`lost: only ${refs} keep the work`)
    return []
  },
}

/** Records and folders that should be gone. */
async function everythingLeft({ fleet: { fleet } }: World): Promise<string[]> {
  const collections = ['projects', 'missions', 'sessions', 'reports', 'comments', 'evidence'] as const
  const records = await Promise.all(
    collections.map(async name =>
      (await fleet.store.find(name, { index: 'id', limit: 10 })).items.map(item => `${name}/${item.value.id}`),
    ),
  )
  const folders = ['sessions', 'tasks', 'worktrees'].flatMap(name =>
    readdirSync(join(fleet.home.path, name), { recursive: true }).map(entry => `${name}/${entry}`),
  )
  return [
    ...records.flat(),
    ...folders.filter(folder => folder.split('/').length > 2 || !folder.startsWith('worktrees')),
  ]
}

export const HALF_SENT = 'half sent'
const LONG_PROMPT = `${'Say "it" with $(quotes) and \\ more. '.repeat(6000)}\n`

export const spoken: Scenario = {
  name: 'a long message to an agent that listens',
  env: { PATH: `${join(import.meta.dirname, '../stand-in')}:${join(NODE, '..')}:${process.env.PATH}` },
  async play(world) {
    const gate = world.gate('listen')
    const project = await world.project({ agent: 'claude', environment: ['CHAOS_LOG', 'CHAOS_GATE'] })
    const mission = await world.mission(project, 'listen', LONG_PROMPT)
    const { sessions } = await world.fleet.until(mission.id, 'running')
    await eventually('a message half sent', () => halfSent(world, sessions[0]!.id))
    await world.moment(HALF_SENT)
    gate.open()
    await world.fleet.until(mission.id, 'done')
    return [landed(mission.id)]
  },
}

const asked: Scenario = {
  name: 'an agent that asks, and a person who answers and says something',
  env: spoken.env,
  async play(world) {
    world.gate('listen').open()
    const project = await world.project({ agent: 'claude', environment: ['CHAOS_LOG', 'CHAOS_GATE'] })
    const mission = await world.mission(project, 'ask', 'Ask first.', { approvals: 'ask' })
    await world.fleet.until(mission.id, 'needs_input')
    await world.ask('POST', `/api/missions/${mission.id}/say`, { text: 'Go on, you are doing well.' })
    await world.ask('POST', `/api/questions/${mission.id}/answer`, { decision: 'allow' })
    await world.fleet.until(mission.id, 'done')
    return [landed(mission.id)]
  },
}

/** The courier has it, and the agent does not: it waits in a pipe that holds less than all of it. */
function halfSent({ fleet }: World, session: string): boolean {
  const launch = newestLaunch(fleet.fleet.home.session(session), 'agent')
  const folder = join(launch ?? '', 'messages')
  const names = launch && existsSync(folder) ? readdirSync(folder) : []
  return names.some(name => name.endsWith('.claim')) && !names.some(name => name.endsWith('.delivered'))
}

const counted: Scenario = {
  name: 'many events, and a start that cannot be',
  async before(world) {
    await world.repo.git('branch', 'side')
    const events = Array.from({ length: 80 }, () => ({
      kind: 'unpaused' as const,
      time: world.fleet.fleet.now(),
      actor: 'person',
    }))
    for (let i = 0; i < 5; i++) await world.fleet.fleet.store.commit({ changes: [], events })
  },
  async play(world) {
    const project = await world.project({ base_branch: 'side' })
    await world.repo.git('branch', '-D', 'side')
    const mission = await world.mission(project, 'nowhere to start', world.script('echo here > here.txt'))
    await world.fleet.until(mission.id, 'failed')
    await world.repo.git('branch', 'side')
    await world.ask('POST', `/api/missions/${mission.id}/retry`)
    await world.fleet.until(mission.id, 'done')
    return [landed(mission.id)]
  },
  base: 'side',
}

const scheduled: Scenario = {
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

const taken: Scenario = {
  name: 'a person takes a mission over and gives it back',
  env: spoken.env,
  async play(world) {
    const project = await world.project({ agent: 'claude', environment: ['CHAOS_LOG', 'CHAOS_GATE'] })
    const mission = await world.mission(project, 'to be taken over', 'Wait for me.')
    await world.fleet.until(mission.id, 'running')
    const path = `/api/missions/${mission.id}`
    const terminal = identityOf(process.pid)
    await world.ask('POST', `${path}/takeover`, { terminal })
    const { sessions } = await eventually('it is the person’s', async () => {
      const now = await world.fleet.show(mission.id)
      return now.sessions[1]?.status === 'running' ? now : undefined
    })
    writeFileSync(join(sessions[1]!.worktree!, 'person.txt'), 'theirs\n')
    await world.ask('POST', `${path}/hand-back`, { terminal, next: 'keep' })
    const { branch } = await world.fleet.until(mission.id, 'review')
    if ((await world.repo.readOn(branch!, 'person.txt')) !== 'theirs') throw new Error("the person's work was lost")
    return [{ id: mission.id, status: 'review', landings: 0, sessions: 1 }]
  },
}

const kept: Scenario = {
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

const staged: Scenario = {
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

const filled: Scenario = {
  name: 'a full context window, and a fresh conversation that goes on',
  env: spoken.env,
  async play(world) {
    world.gate('listen').open()
    const project = await world.project({ agent: 'claude', environment: ['CHAOS_LOG', 'CHAOS_GATE'] })
    const mission = await world.mission(project, 'fill', 'Fill it.')
    await world.fleet.until(mission.id, 'done')
    const files = await world.repo.filesOn('main')
    if (!files.includes('half.txt') || !files.includes('said.txt')) throw new Error(`lost: main has only ${files}`)
    return [landed(mission.id, 2)]
  },
}

const bridged: Scenario = {
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

const proposed: Scenario = {
  name: 'a pull request that is merged elsewhere',
  env: { ...WITH_GH, FLEET_PULL_REQUEST_EVERY: '86400' },
  async play(world) {
    const github = await aGitHub(world.repo)
    const project = await world.project({ landing: 'pull-request' })
    const mission = await world.mission(project, 'to be merged elsewhere', world.script('echo merged > merged.txt'))
    await world.fleet.until(mission.id, 'review')
    await github.squash(1)
    await world.land(mission.id)
    await world.fleet.until(mission.id, 'done')
    const made = github.pulls().length
    if (made !== 1) throw new Error(`doubled: ${made} pull requests were made`)
    return [landed(mission.id)]
  },
}

export const SCENARIOS: readonly Scenario[] = [
  chain,
  conflict,
  cancel,
  undo,
  review,
  sentBack,
  forget,
  spoken,
  asked,
  counted,
  scheduled,
  kept,
  looped,
  staged,
  taken,
  filled,
  proposed,
  bridged,
]
