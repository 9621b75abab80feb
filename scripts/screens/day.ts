import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { declareAgents, runs, say, think, used, writes } from './agents.ts'
import { type Program, until } from './program.ts'
import { repository } from './repository.ts'
import { aTeamAtWork } from './team.ts'

const FILES = {
  'README.md': '# Harbour\n\nBerths, tides and arrivals of a small harbour.\n',
  'package.json': '{ "name": "harbour", "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/server.js':
    "import { createServer } from 'node:http'\n\nexport const server = createServer((request, response) => {\n  response.end('Harbour')\n})\n",
  'src/tides.js': 'export const tideAt = hour => Math.sin(hour / 2)\n',
  'src/prices.js': 'export const perNight = 12\nexport const perMetre = 3\n',
}

const lines = (count: number, of: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => `${of(n)}\n`).join('')

/** The ids of what is on the pictures. Something an older program does not know is missing. */
export interface Day {
  project: string
  running: string
  session: string
  review: string
  landed: string
  failed: string
  conflict: string
  question?: string
  plan?: string
  workflow?: string
  team?: string
  compare: [string, string]
}

/** A day's work: missions in every state, and something on every page. */
export async function aDay(program: Program, warn: (text: string) => void): Promise<Day> {
  const { root, call } = program
  const { does } = declareAgents(program)
  const harbour = join(root, 'code/harbour')
  repository(harbour, FILES)
  repository(join(root, 'code/bakery'), { 'README.md': '# Bakery\n', 'menu.txt': 'bread\n' })
  await program.start()
  const optional = async <T>(what: string, make: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await make()
    } catch (error) {
      warn(`${what}: ${String((error as { stderr?: string }).stderr || (error as Error).message).split('\n')[0]}`)
      return undefined
    }
  }
  const project = await call('create_project', {
    ...{ name: 'Harbour', path: harbour, landing: 'auto', agent: 'helm', daily_budget_usd: 20 },
    description: 'Berths, tides and arrivals',
  })
  const bakery = await call('create_project', {
    ...{ name: 'Bakery', path: join(root, 'code/bakery'), landing: 'review', agent: 'helm' },
    checks: [{ name: 'bread', command: 'grep -q bread menu.txt' }],
  })
  const mission = (title: string, text: string, more: object = {}) =>
    call('create_mission', { project_id: project.id, title, detailed_prompt: text, auto_dispatch: true, ...more })
  const status = (id: string, ...wanted: string[]) =>
    until(`${id} ${wanted}`, async () =>
      wanted.includes((await call<{ status: string }>('get_mission', { mission_id: id })).status),
    )
  const gate = join(root, 'gate')
  const hold = `until [ -e '${gate}' ] || [ ! -e '${root}' ]; do sleep 0.2; done`

  does(
    'tide table',
    think('The table is read for each request. A cache of an hour is enough, because tides are published daily.'),
    say('I will cache the table for an hour and add a test.'),
    writes(
      'src/cache.js',
      lines(24, n => `export const tide${n} = ${n}`),
    ),
    used(0.42, 2900, 31_000),
    say('Tides are cached for an hour. `npm test` passes.'),
  )
  does(
    'arrivals API',
    writes(
      'docs/arrivals.md',
      lines(12, n => `Route ${n} lists arrivals.`),
    ),
    used(0.18, 1100, 18_000),
    say('Every route is described.'),
  )
  const landed = await mission('Cache the tide table', 'Cache the tide table for an hour.')
  const documented = await mission(
    'Document the arrivals API',
    'Describe every route of the arrivals API in docs/arrivals.md.',
  )
  for (const { id } of [landed, documented]) await status(id, 'done')

  does(
    'by draught',
    writes(
      'src/berths.js',
      lines(86, n => `export const berth${n} = { draught: ${n / 10} }`),
    ),
    `printf 'export const perNight = 14\\nexport const perMetre = 3\\n' > src/prices.js`,
    used(1.21, 6100, 74_000),
    say('Deep ships get deep berths. Prices follow the draught.'),
  )
  does(
    'price per metre',
    `case "$FLEET_REASON" in conflict) ;; *) printf 'export const perNight = 12\\nexport const perMetre = 4\\n' > src/prices.js;; esac`,
    used(0.12, 700, 9_000),
    say('Each metre costs 4 now.'),
  )
  does(
    'every arrival',
    writes(
      'src/log.js',
      lines(19, n => `export const line${n} = 'arrival ${n}'`),
    ),
    used(0.31, 1800, 22_000),
    say('One line per arrival, with the time.'),
  )
  does(
    'price list',
    `printf 'export const perNight = 15\\nexport const perMetre = 5\\n' > src/prices.js`,
    used(0.09, 500, 8_000),
    say('The new list is in force.'),
  )
  const review = await mission('Assign berths by draught', 'Assign berths by draught: deep ships get deep berths.', {
    landing: 'review',
    acceptance_criteria: 'A ship never gets a berth that is too shallow.',
  })
  const other = await mission('Raise the price per metre', 'Raise the price per metre to 4.', { landing: 'review' })
  const log = await mission('Log every arrival', 'Log every arrival with its time.', { landing: 'review', priority: 5 })
  for (const { id } of [review, other, log]) await status(id, 'review')
  await call('comment_mission', {
    mission_id: review.id,
    body: 'Why 14? The list says 12.',
    path: 'src/prices.js',
    line: 1,
  })
  const list = await mission('Publish the new price list', 'Publish the new price list.')
  await status(list.id, 'done')
  const { candidate } = await call<{ candidate: { commit: string } }>('get_review', { mission_id: other.id })
  await call('land_mission', { mission_id: other.id, expected: candidate.commit })
  await until('the conflict', async () => {
    const { status: is, status_reason } = await call<{ status: string; status_reason: { code: string } | null }>(
      'get_mission',
      { mission_id: other.id },
    )
    return is === 'review' && status_reason?.code === 'conflict'
  })

  const failed = await mission('Measure the quay', "echo 'The tape is too short.' >&2; exit 3", {
    agent: 'shell',
    max_retries: 0,
  })
  await status(failed.id, 'failed')
  const broken = await call('create_mission', {
    project_id: bakery.id,
    title: 'Rewrite the menu',
    detailed_prompt: 'echo cake > menu.txt',
    agent: 'shell',
    landing: 'auto',
    auto_dispatch: true,
  })
  await status(broken.id, 'review')
  const stopped = await mission('Paint the lighthouse', hold, { agent: 'shell' })
  await call('cancel_mission', { mission_id: stopped.id })
  const draft = await mission('Update the dependencies', 'Update the dependencies and run the tests.', {
    auto_dispatch: false,
  })
  await optional('schedule', () =>
    call('schedule_mission', { mission_id: draft.id, cron: '30 6 * * 1-5', time_zone: 'Europe/Berlin' }),
  )
  await optional('template', () => call('save_template', { name: 'dependencies', mission_id: draft.id }))
  await optional('MCP server', () =>
    call('add_mcp_server', { project_id: project.id, name: 'docs', url: 'https://docs.example.com/mcp' }),
  )

  does(
    'spring tides',
    think('Spring tides need a lunar calendar.'),
    say('First I read the tides module.'),
    runs('cat src/tides.js', 'cat src/tides.js > /dev/null'),
    writes(
      'test/spring-tides.test.js',
      lines(40, n => `// high water ${n}`),
    ),
    used(0.27, 2100, 88_000),
    `printf '{"kind":"call","id":"held","tool":"Bash","input":{"command":"npm test"}}\\n'; ${hold}`,
  )
  does(
    'stream arrivals',
    say('I open an event stream at /arrivals.'),
    writes(
      'src/stream.js',
      lines(52, n => `export const event${n} = ${n}`),
    ),
    used(0.35, 2600, 41_000),
    `printf '{"kind":"call","id":"held","tool":"Bash","input":{"command":"npm run build"}}\\n'; ${hold}`,
  )
  const running = await mission('Write tests for the tides', 'Write tests for spring tides and neap tides.')
  const stream = await mission('Stream arrivals to the page', 'stream arrivals to the page as they happen.')
  await mission('Announce delays', 'Announce delays on the page.', { depends_on: [stream.id] })

  const asks = JSON.stringify({
    question: 'Two ships want berth 4 on Friday. Which one gets it, the ferry or the trawler?',
  })
  const question = await mission(
    'Plan the berths for Friday',
    `'${program.node}' '${program.fleet}' call ask_human '${asks}' && ${hold}`,
    { agent: 'shell' },
  )
  await optional('permission', async () => {
    const asking = await mission('Deploy the arrivals board', 'Deploy the arrivals board.', {
      agent: 'pilot',
      tool_preset: 'review',
      approvals: 'ask',
    })
    const open = () =>
      until('the permission', async () => {
        const { questions } = await call<{ questions: { id: string; mission_id: string; kind: string }[] }>(
          'list_inbox',
        )
        return questions.find(({ mission_id, kind }) => mission_id === asking.id && kind === 'permission')
      })
    const first = await open()
    await call('answer_question', { question_id: first.id, decision: 'allow', remember: 'project' })
    await until('the next permission', async () => (await open()).id !== first.id)
  })

  does(
    'A winter mode',
    `cat <<'END'\n${JSON.stringify({ summary: 'First the calendar, then two parts side by side, then the switch.', missions: PLAN })}\nEND`,
    used(0.15, 900, 12_000),
  )
  const plan = await optional('plan', () =>
    call('plan_project', {
      project_id: project.id,
      prompt: 'A winter mode: fewer berths, other prices, a notice on the page',
      agent: 'helm',
    }),
  )
  does(
    'weather service',
    writes(
      'src/weather.js',
      lines(9, n => `export const wind${n} = ${n}`),
    ),
    used(0.22, 1500, 16_000),
    say('The weather is asked for every ten minutes.'),
  )
  const workflow = await optional('workflow', () =>
    call('create_workflow', {
      project_id: project.id,
      use: 'write-review-refine',
      task_prompt: 'Ask the weather service for the wind.',
      agents: ['helm', 'helm', 'helm'],
    }),
  )
  const team = await optional('team', () => aTeamAtWork(program))
  await optional('loop', () =>
    call('start_loop', { project_id: bakery.id, goal: 'Every cake has a price', agent: 'helm', max_rounds: 5 }),
  )
  if (plan)
    await until(
      'the plan',
      async () => (await call<{ status: string }>('get_plan', { plan_id: plan.id })).status !== 'planning',
    )
  await until(
    'running agents',
    async () => existsSync(root) && (await call<{ tasks: object[] }>('list_running')).tasks.length >= 3,
  )
  const session = await until(
    'a session',
    async () => (await call<{ sessions: { id: string }[] }>('list_sessions', { mission_id: running.id })).sessions[0],
  )
  return {
    ...{ project: project.id, running: running.id, session: session.id, review: review.id, landed: landed.id },
    ...{ failed: failed.id, conflict: other.id, question: question.id, plan: plan?.id, workflow: workflow?.id, team },
    compare: [review.id, other.id],
  }
}

const PLAN = [
  {
    key: 'calendar',
    title: 'Know the season',
    prompt: 'Add a calendar with seasons.',
    estimate_minutes: 10,
    estimate_usd: 0.4,
  },
  {
    key: 'berths',
    title: 'Close the outer berths',
    prompt: 'Close berths 20 to 40 in winter.',
    depends_on: ['calendar'],
    estimate_minutes: 20,
    estimate_usd: 0.8,
  },
  {
    key: 'prices',
    title: 'Winter prices',
    prompt: 'Half price in winter.',
    depends_on: ['calendar'],
    estimate_minutes: 15,
    estimate_usd: 0.5,
  },
  {
    key: 'notice',
    title: 'Show a notice',
    prompt: 'Show a notice on the page in winter.',
    depends_on: ['berths', 'prices'],
    estimate_minutes: 10,
    estimate_usd: 0.3,
  },
]
