import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OPERATIONS } from '../../../src/operations/index.ts'
import { routeOf } from '../../../src/operations/shape.ts'
import { mcpClient } from '../../../src/server/mcp/client.testkit.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { anAgentAtWork, report } from '../../kit/inside.ts'
import { aPlanner } from '../../kit/planner.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { aWorker } from '../../kit/worker.ts'

/** Text that a person, an issue or a planner might write. If a shell runs it, it leaves a file. */
const prose = (canary: string): string => `Touch up the docs

touch '${canary}'
Words in backticks: \`touch '${canary}'\`, and $(touch '${canary}').`

type Input = Record<string, unknown>
type Answer = Record<string, never> & { id: string; mission_id: string }

interface World extends Scene {
  ask(operation: string, input: Input): Promise<Answer>
  tool(name: string, input: Input): Promise<Answer>
  command(...args: string[]): Promise<void>
  /** The same, called by a running session. */
  inside(operation: string, input: Input): Promise<Answer>
  planned(mission: object, more: object): Promise<void>
  /** Two finished missions: one was prose, and one was a script that left open work. */
  done: { prose: string; script: string }
}

const refusedWith = (message: string): never => {
  throw new Error(message)
}

async function aWorld(start: (scene: Scene) => void): Promise<World> {
  const scene = await aScene({ start: false, env: { FLEET_MAX_CONCURRENT: '6' }, repository: {} })
  start(scene)
  const { fleet, project, repo } = scene
  mkdirSync(join(fleet.root, 'home/plugins'), { recursive: true })
  const make = `{ summary: 'Make one', run: (input, fleet) => fleet.call('create_mission', input) }`
  writeFileSync(
    join(fleet.root, 'home/plugins/issues.mjs'),
    `export default { tools: { make: ${make} }, hooks: { pre_dispatch: ({ mission }) =>
      mission.title === 'changed by a plugin' && !mission.tags.includes('seen') ? { change: { ...mission.metadata.change, tags: ['seen'] } } : undefined } }`,
  )
  const { url } = await fleet.start()
  const mcp = await mcpClient(`${url}/mcp`, await fleet.fleet.keys.ownerToken())
  const ask = async (operation: string, input: Input): Promise<Answer> => {
    const { method, path } = routeOf(OPERATIONS.find(({ name }) => name === operation)!)
    const inPath = path.replace(/:(\w+)/g, (_, field: string) => String(input[field]))
    const rest = Object.fromEntries(Object.entries(input).filter(([field]) => !path.includes(`:${field}`)))
    const answer = await fleet.http(inPath, { method, body: JSON.stringify(rest) })
    const json = (await answer.json()) as Answer & { error?: { message: string; try?: string } }
    return answer.ok ? json : refusedWith(JSON.stringify(json.error))
  }
  const agent = await anAgentAtWork(scene)
  const ended = async (script: string, settings: object) => {
    const { id } = await fleet.mission(project, script, { landing: 'never', ...settings })
    await fleet.until(id, 'done')
    return id
  }
  const left = JSON.stringify(report('half', { next_steps: ['Go on'] }))
  return {
    ...scene,
    ask,
    async tool(name, input) {
      const { text, isError } = await mcp.call(name, input)
      return isError ? refusedWith(text) : JSON.parse(text)
    },
    async command(...args) {
      const { code, stderr } = await fleet.fleetCommand(args, { cwd: repo.path })
      if (code === 2 || code === 4) refusedWith(stderr)
    },
    async inside(operation, input) {
      const { status, json } = await agent.ask(operation, input)
      return status < 300 ? (json as unknown as Answer) : refusedWith(JSON.stringify(json.error))
    },
    async planned(mission, more) {
      const answer = { summary: 's', missions: [{ key: 'a', title: 'a', prompt: '', ...mission }] }
      writeFileSync(join(fleet.root, 'planner/answer-last'), JSON.stringify(answer))
      const plan = await ask('plan_project', {
        prompt: 'x',
        project_id: project.id,
        agent: 'planner',
        approve: true,
        ...more,
      })
      const over = await eventually('the plan', async () => {
        const { status, reason } = await fleet.call<{ status: string; reason: string }>('get_plan', {
          plan_id: plan.id,
        })
        return status === 'planning' || status === 'proposed' ? undefined : { status, reason }
      })
      if (over.status === 'failed') refusedWith(over.reason)
    },
    done: {
      prose: existsSync(join(fleet.fleet.home.path, 'agents.json'))
        ? await ended('do: echo p > p.txt', { agent: 'worker' })
        : '',
      script: await ended(`echo s > s.txt; echo '${left}' > "$FLEET_RESULT_FILE"`, {}),
    },
  }
}

interface Way {
  /** What happens if the call itself names shell. */
  named: 'runs' | 'refused'
  go(world: World, text: string, agent: string | undefined): Promise<unknown>
}

const fields = ({ project }: World, detailed_prompt: string, agent?: string): Input => ({
  ...{ project_id: project.id, title: 'a way in', detailed_prompt, auto_dispatch: true, landing: 'never', agent },
})
const flags = (agent?: string): string[] => ['--landing', 'never', ...(agent ? ['--agent', agent] : [])]

/** Every way to create a mission, or to give it another text or agent. */
const WAYS: Record<string, Way> = {
  'REST create_mission': { named: 'runs', go: (w, text, agent) => w.ask('create_mission', fields(w, text, agent)) },
  'fleet run': { named: 'runs', go: (w, text, agent) => w.command('run', ...flags(agent), text) },
  'fleet mission create': {
    named: 'runs',
    go: (w, text, agent) => w.command('mission', 'create', ...flags(agent), '--dispatch', text),
  },
  'fleet task add': {
    named: 'runs',
    go: (w, text, agent) =>
      w.command('task', 'add', 'a task', ...(agent ? ['--agent', agent] : []), '--description', text),
  },
  'MCP create_mission (claude-devfleet)': {
    named: 'runs',
    go: (w, prompt, agent) =>
      w.tool('create_mission', { project_id: w.project.id, title: 'x', prompt, auto_dispatch: true, agent }),
  },
  'MCP create_worker (codefleet)': {
    named: 'runs',
    go: (w, prompt, executor) => w.tool('create_worker', { repo_path: w.repo.path, task_name: 'x', prompt, executor }),
  },
  'MCP create_workflow (codefleet)': {
    named: 'runs',
    go: (w, prompt_template, executor) =>
      w.tool('create_workflow', {
        ...{ name: 'x', repo_path: w.repo.path, task_prompt: 'x' },
        stages: [{ name: 'a', prompt_template, executor }],
      }),
  },
  'a stage of a workflow': {
    named: 'runs',
    go: (w, prompt, agent) =>
      w.ask('create_workflow', { project_id: w.project.id, task_prompt: 'x', stages: [{ name: 'a', prompt, agent }] }),
  },
  'a task handed to a stage': {
    named: 'refused',
    go: (w, task_prompt, agent) =>
      w.ask('create_workflow', {
        ...{ project_id: w.project.id, task_prompt },
        stages: [{ name: 'a', prompt: '{task_prompt}', agent }],
      }),
  },
  'a ready-made workflow': {
    named: 'refused',
    go: (w, task_prompt, agent) =>
      w.ask('create_workflow', {
        ...{ project_id: w.project.id, task_prompt, use: 'map', items: ['x'], agents: agent ? [agent] : [] },
      }),
  },
  'a changed stage': {
    named: 'runs',
    async go(w, prompt, agent) {
      const stages = [{ name: 'a', prompt: 'exit 1', agent: 'shell' }]
      const { id } = await w.ask('create_workflow', { project_id: w.project.id, task_prompt: 'x', stages })
      await eventually(
        'it failed',
        async () => (await w.fleet.call<{ status: string }>('get_workflow', { workflow_id: id })).status === 'failed',
      )
      return w.ask('change_workflow_stage', { workflow_id: id, stage: 'a', prompt, agent })
    },
  },
  'a saved template': {
    named: 'refused',
    async go(w, text, agent) {
      const { id } = await w.ask('create_mission', { ...fields(w, text, 'worker'), auto_dispatch: false })
      const template = `t-${id}`
      await w.ask('save_template', { name: template, mission_id: id })
      return w.ask('create_mission_from_template', { template, project_id: w.project.id, auto_dispatch: true, agent })
    },
  },
  'a schedule': {
    named: 'runs',
    async go(w, text, agent) {
      const { id } = await w.ask('create_mission', {
        ...fields(w, text, agent),
        auto_dispatch: false,
        schedule_cron: '@yearly',
      })
      return w.ask('run_schedule', { schedule_id: id })
    },
  },
  'an imported bead': {
    named: 'refused',
    async go(w, description, agent) {
      const bead = { id: `bd-${agent ?? 'x'}`, title: 'x', description, metadata: { fleet_agent: agent } }
      const { made } = (await w.ask('import_beads', {
        ...{ project_id: w.project.id, jsonl: JSON.stringify(bead), auto_dispatch: true },
      })) as unknown as { made: string[] }
      // The agent that a bead names is ignored.
      if (agent && (await w.fleet.show(made[0]!)).agent === null) refusedWith('beads are prose')
    },
  },
  'a plugin': {
    named: 'refused',
    go: (w, text, agent) =>
      w.ask('call_plugin_tool', { plugin: 'issues', tool: 'make', input: fields(w, text, agent) }),
  },
  "a plugin's change before a session": {
    named: 'refused',
    async go(w, detailed_prompt, agent) {
      const change = { detailed_prompt, ...(agent && { agent }) }
      const script = { ...fields(w, 'true', 'shell'), title: 'changed by a plugin', metadata: { change } }
      const { id } = await w.ask('create_mission', script)
      await w.fleet.until(id, 'done', 'failed')
      if ((await w.fleet.show(id)).detailed_prompt === 'true') refusedWith('the plugin is blamed')
    },
  },
  'a plan, and a planner that names an agent': {
    named: 'refused',
    go: (w, prompt, agent) => w.planned({ prompt, agent }, {}),
  },
  'a plan that may have scripts': {
    named: 'runs',
    go: (w, prompt, agent) => w.planned({ prompt, agent }, { scripts: true }),
  },
  'a sub-mission by an agent': {
    named: 'runs',
    go: (w, detailed_prompt, agent) => w.inside('create_sub_mission', { title: 'part', detailed_prompt, agent }),
  },
  'a review that an agent asks for': {
    named: 'refused',
    go: (w, description, agent) => w.inside('request_review', { description, ...(agent && { agent }) }),
  },
  'a follow-up of a script': {
    named: 'refused',
    go: (w, _text, agent) =>
      w.ask('generate_next', { mission_id: w.done.script, auto_dispatch: true, again: true, ...(agent && { agent }) }),
  },
  'a new text for a script': {
    named: 'runs',
    async go(w, detailed_prompt, agent) {
      const { id } = await w.ask('create_mission', { ...fields(w, 'true', 'shell'), auto_dispatch: false })
      await w.ask('update_mission', { mission_id: id, detailed_prompt, ...(agent && { agent }) })
      return w.ask('dispatch_mission', { mission_id: id })
    },
  },
  ...Object.fromEntries(
    ['update_mission', 'dispatch_mission', 'retry_mission', 'fork_mission'].map((operation): [string, Way] => [
      `${operation} with another agent for prose`,
      {
        named: 'refused',
        async go(w, text, agent) {
          const draft = operation === 'update_mission' || operation === 'dispatch_mission'
          const worker = w.done.prose ? 'worker' : undefined
          const { id } = await w.ask('create_mission', { ...fields(w, text, worker), auto_dispatch: !draft })
          if (!draft) await w.fleet.until(id, 'done', 'failed')
          const fresh = operation === 'fork_mission' ? { fresh: true } : {}
          return w.ask(operation, { mission_id: id, ...fresh, ...(agent && { agent }) })
        },
      },
    ]),
  ),
}

/** Waits until nothing runs except the world's own agent. */
const rested = (fleet: TestFleet): Promise<boolean> =>
  eventually(
    'everything is over',
    async () => {
      const { missions } = await fleet.call<{ missions: { status: string; title: string }[] }>('list_missions', {
        limit: 500,
      })
      const busy = missions.filter(({ status }) => ['queued', 'running', 'landing', 'waiting'].includes(status))
      return busy.length <= 1
    },
    async () =>
      JSON.stringify(
        (
          await fleet.call<{ missions: { status: string; title: string }[] }>('list_missions', { limit: 500 })
        ).missions.map(({ status, title }) => `${status} ${title}`),
      ),
    120_000,
  )

/** The result of each way: refused, or whether a shell ran the text. */
async function walked(world: World, agent: string | undefined): Promise<Record<string, string>> {
  const canary = (way: string): string => join(world.fleet.root, `canary ${way.replaceAll(/\W/g, '-')} ${agent}`)
  const asked: Record<string, string> = {}
  for (const [way, { go }] of Object.entries(WAYS))
    asked[way] = await go(world, prose(canary(way)), agent).then(
      () => 'asked',
      (error: Error) => `refused: ${error.message}`,
    )
  await rested(world.fleet)
  return Object.fromEntries(
    Object.entries(asked).map(([way, how]) => [way, existsSync(canary(way)) ? 'run by a shell' : how]),
  )
}

const withWorker = ({ fleet }: Scene): void => {
  aPlanner(fleet)
  aWorker(fleet)
}

test('with a coding agent, no text is run by a shell unless its author named shell', async () => {
  const world = await aWorld(withWorker)
  const unnamed = await walked(world, undefined)
  expect(Object.entries(unnamed).filter(([, how]) => how === 'run by a shell')).toEqual([])
  const named = await walked(world, 'shell')
  for (const [way, { named: expected }] of Object.entries(WAYS))
    expect(named[way], way).toMatch(expected === 'runs' ? /^run by a shell$/ : /^refused/)
  // Only missions that named shell were run by a shell.
  const { missions } = await world.fleet.call<{ missions: { id: string; script: boolean; done_by: string }[] }>(
    'list_missions',
    { limit: 500 },
  )
  for (const { id, script } of missions) {
    const { sessions } = await world.fleet.show(id)
    for (const { agent } of sessions) expect([id, agent === 'shell']).toEqual([id, script])
  }
}, 400_000)
