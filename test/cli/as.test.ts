import { PassThrough } from 'node:stream'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { run as program } from '../../src/cli/program.ts'
import { aCrew, type Crew, type CrewClient } from '../kit/claude-fleet.ts'
import { eventually } from '../kit/fleet.ts'
import { type Anything, ledger } from '../kit/known.ts'
import { tmuxIn } from '../kit/tmux.ts'

let crew: Crew
let lead: CrewClient
let ada: CrewClient

beforeAll(async () => {
  let clean: () => Promise<void>
  crew = await aCrew(over => {
    clean = over
  })
  lead = await crew.aClient('chief', 'team-lead')
  ada = await crew.aClient('ada')
  return () => clean()
})

/** A command line in this process, as somebody with this token. Without one, it is the owner at the machine. */
async function typed(args: string[], token?: string, env: Record<string, string> = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const { fleet, repo } = crew.scene
  const around = {
    ...{ HOME: fleet.root, FLEET_HOME: fleet.fleet.home.path, PATH: process.env.PATH },
    ...(token && { FLEET_URL: crew.url, FLEET_TOKEN: token }),
    ...env,
  }
  const code = await program(args, { streams: { stdin, stdout, stderr, env: around, cwd: repo.path } })
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') }
}

test('every command of claude-fleet does what it did there', async () => {
  const { call, forgotten } = ledger('claude-fleet', 'command')
  const as = async (who: CrewClient, name: string, ...args: string[]): Promise<Anything> => {
    call(name)
    const { code, out, err } = await typed(['as', 'claude-fleet', name, ...args], who.token)
    expect(code, `${name}: ${err}`).toBe(0)
    return JSON.parse(out)
  }
  const fails = async (who: CrewClient, ...args: string[]): Promise<string> => {
    const { code, err } = await typed(['as', 'claude-fleet', ...args], who.token)
    expect(code, args.join(' ')).toBe(1)
    return err
  }
  expect(await as(lead, 'health')).toMatchObject({ status: expect.any(String) })
  // Measurements are those of the whole fleet, so this client names no team.
  const { body: watcher } = await crew.send(crew.owner, 'POST', '/auth', { handle: 'watcher', agentType: 'monitor' })
  await as(watcher, 'metrics')
  expect(await fails(lead, 'metrics')).toMatch(/metrics\.read/)
  const token = ['--token', crew.owner, '--url', crew.url]
  const zoe = await as(lead, 'auth', 'zoe', 'crew', 'worker', ...token)
  expect(zoe).toMatchObject({ handle: 'zoe', teamName: 'crew', agentType: 'worker', token: expect.any(String) })
  expect((await as(lead, 'teams', 'crew')).map((each: Anything) => each.handle)).toContain('zoe')
  const table = await typed(['as', 'claude-fleet', 'teams', 'crew', '--table'], lead.token)
  expect(table.out).toMatch(/HANDLE +UID +TYPE[\s\S]*zoe/)

  await as(lead, 'spawn', 'bob', 'do:', 'echo', 'hammered')
  expect(await as(lead, 'workers')).toMatchObject([{ handle: 'bob' }])
  const { output } = await eventually('bob to hammer', async () => {
    const said = await as(lead, 'output', 'bob')
    return said.output.join().includes('hammered') ? said : undefined
  })
  expect(output.join()).toContain('hammered')
  await as(lead, 'send', 'bob', 'thank', 'you')
  expect(await as(lead, 'worktree-status', 'bob')).toMatchObject({ handle: 'bob' })
  expect(await fails(lead, 'worktree-commit', 'bob', 'mine')).toMatch(/you are chief/)
  expect(await fails(lead, 'worktree-push', 'bob')).toMatch(/handed in no work/)
  expect(await fails(lead, 'worktree-pr', 'bob', 'Title', 'the', 'body')).toMatch(/handed in no work/)
  call('worktree-commit', 'worktree-push', 'worktree-pr')
  await as(lead, 'dismiss', 'bob')

  const task = await as(lead, 'task-create', 'ada', 'Dig a hole', 'Deep.')
  expect(await as(ada, 'tasks', 'crew')).toMatchObject([{ id: task.id, ownerHandle: 'ada' }])
  expect(await as(ada, 'task', task.id)).toMatchObject({ description: 'Deep.' })
  expect(await as(ada, 'task-update', task.id, 'resolved')).toMatchObject({ status: 'resolved' })
  expect(await fails(ada, 'task-create', 'ada', 'Mine now')).toMatch(/missions\.run/)
  const item = await as(lead, 'workitem-create', 'Saw it', 'Straight.', 'ada')
  expect(await as(ada, 'workitems', 'pending')).toMatchObject([{ id: item.id }])
  const batch = await as(lead, 'batch-create', 'Shed', item.id)
  expect(await as(ada, 'batches')).toMatchObject([{ id: batch.id, itemCount: 1 }])
  await as(lead, 'batch-dispatch', batch.id, 'ada')
  expect(await as(ada, 'workitem-update', item.id, 'completed')).toMatchObject({ status: 'completed' })

  await as(ada, 'mail-send', 'ada', 'chief', 'It is dug.', 'Hole')
  expect((await as(lead, 'mail', 'chief')).map((each: Anything) => each.body)).toContain('It is dug.')
  expect(await fails(ada, 'mail-send', 'chief', 'ada', 'Well done.')).toMatch(/you are ada/)
  const made = await as(ada, 'checkpoint-create', 'ada', 'Dig', 'Half', 'chief')
  expect(await as(lead, 'checkpoints', 'chief')).toMatchObject([{ id: made.id }])
  expect(await as(lead, 'checkpoint', made.id)).toMatchObject({ fromHandle: 'ada' })
  expect(await as(lead, 'checkpoint-latest', 'chief')).toMatchObject({ id: made.id })
  expect(await as(lead, 'handoffs', 'chief')).toHaveLength(1)
  await as(lead, 'checkpoint-accept', made.id)
  const other = await as(ada, 'checkpoint-create', 'ada', 'Dig', 'More', 'chief')
  await as(lead, 'checkpoint-reject', other.id)

  const swarm = await as(lead, 'swarm-create', 'moles', '3')
  expect(await as(ada, 'swarms')).toMatchObject([{ name: 'moles', maxAgents: 3 }])
  const post = await as(ada, 'blackboard-post', swarm.id, 'ada', 'status', '{"depth": 2}')
  expect(await as(lead, 'blackboard', swarm.id)).toMatchObject([{ id: post.id, payload: { depth: 2 } }])
  await as(lead, 'swarm-kill', swarm.id)
  expect(await as(ada, 'spawn-queue')).toMatchObject({ limits: { hard: 10 } })
  expect(forgotten()).toEqual([])
  expect((await typed(['as', 'claude-fleet', 'spawn'], lead.token)).code).toBe(2)
  expect((await typed(['as', 'claude-fleet', 'health'], 'nonsense', { FLEET_TOKEN: 'nonsense' })).code).toBe(0)
})

test('every command of CAFleet does what it did there, with its exit codes', async () => {
  const { call, forgotten } = ledger('CAFleet', 'command')
  const as = async (token: string | undefined, args: string[], ...more: string[]): Promise<Anything> => {
    const [noun = '', verb = ''] = args
    call(noun === 'session' || noun === 'fleet' ? `session|fleet ${verb}` : `${noun} ${verb}`)
    const { code, out, err } = await typed(['as', 'cafleet', ...args, ...more], token)
    expect(code, `${args.join(' ')}: ${err}`).toBe(0)
    return JSON.parse(out)
  }
  const fails = async (token: string | undefined, code: number, ...args: string[]): Promise<string> => {
    const said = await typed(['as', 'cafleet', ...args], token)
    expect([args.join(' '), said.code], said.err).toEqual([args.join(' '), code])
    return said.err
  }
  const { session_id } = await as(undefined, ['session', 'create'], '--label', 'night')
  await as(undefined, ['fleet', 'create'], '--label', 'spare')
  expect((await as(undefined, ['fleet', 'list'])).map((each: Anything) => each.label)).toContain('night')
  expect(await as(undefined, ['session', 'list'])).toContainEqual(expect.objectContaining({ session_id }))
  expect(await as(undefined, ['session', 'show', session_id])).toMatchObject({ label: 'night' })
  expect(await as(undefined, ['fleet', 'show', 'spare'])).toMatchObject({ label: 'spare' })
  expect(await as(undefined, ['fleet', 'delete', 'spare'])).toMatchObject({ deregistered_count: 0 })

  // Of several teams, the repository has to say which is meant, and it has two.
  expect(await fails(undefined, 2, 'agent', 'list', '--agent-id', 'operator')).toMatch(/team is missing/)

  const night = ['--session-id', session_id]
  const owl = await as(undefined, ['agent', 'register'], '--name', 'owl', '--role', 'team-lead', ...night)
  const bat = await as(undefined, ['agent', 'register'], '--name', 'bat', ...night)
  const [owlId, batId] = [
    ['--agent-id', owl.uid],
    ['--agent-id', bat.uid],
  ]
  const listed = await as(owl.token, ['agent', 'list'], ...owlId, ...night)
  expect(listed.map((each: Anything) => each.name).toSorted()).toEqual(['bat', 'operator', 'owl'])
  expect(await as(owl.token, ['agent', 'show'], ...owlId, '--id', 'bat', ...night)).toMatchObject({ role: 'worker' })

  const sent = await as(bat.token, ['message', 'send'], ...batId, '--to', owl.uid, '--text', 'A moth!', ...night)
  expect(await fails(bat.token, 1, 'message', 'send', ...owlId, '--to', 'bat', '--text', 'x', ...night)).toMatch(
    /--agent-id is .*but you are bat/,
  )
  expect(await fails(bat.token, 2, 'message', 'send', '--to', 'owl', '--text', 'x')).toMatch(/agent-id/)
  const polled = await as(owl.token, ['message', 'poll'], ...owlId, ...night)
  expect(polled).toMatchObject([{ task_id: sent.task_id, from: 'bat', text: 'A moth!' }])
  const cut = await typed(['as', 'cafleet', 'message', 'poll', ...owlId, ...night], owl.token, {
    CAFLEET_MAX_TEXT_LEN: '3',
  })
  expect(JSON.parse(cut.out)).toMatchObject([{ text: 'A m…' }])
  await as(owl.token, ['message', 'ack'], ...owlId, '--task-id', sent.task_id, ...night)
  expect(await as(owl.token, ['message', 'poll'], ...owlId, ...night)).toEqual([])
  expect(await as(owl.token, ['message', 'poll'], ...owlId, '--all', ...night)).toHaveLength(1)
  expect(await as(bat.token, ['message', 'show'], ...batId, '--task-id', sent.task_id, ...night)).toMatchObject({
    states: { owl: 'acked' },
  })
  await as(owl.token, ['message', 'broadcast'], ...owlId, '--text', 'Dawn.', ...night)
  expect(await fails(bat.token, 1, 'message', 'broadcast', ...batId, '--text', 'No.', ...night)).toMatch(/broadcast/)
  const late = await as(bat.token, ['message', 'send'], ...batId, '--to', 'owl', '--text', 'Oh no.', ...night)
  const taken = await as(bat.token, ['message', 'cancel'], ...batId, '--task-id', late.task_id, ...night)
  expect(taken.cancelled).toHaveLength(1)

  const prompt = ['do:', 'echo', 'flown']
  const member = await as(
    owl.token,
    ['member', 'create'],
    '--name',
    'moth',
    '--description',
    'Fly.',
    ...night,
    ...prompt,
  )
  expect(member).toMatchObject({ name: 'moth', kind: 'agent' })
  const [moth] = await as(owl.token, ['member', 'list'], '--activity', ...night)
  expect(moth).toMatchObject({ name: 'moth', coding_agent: 'worker', unread: expect.any(Number) })
  // It has no window: what it printed is shown, and mail wakes it.
  const theMoth = ['--member-id', 'moth', ...night]
  const printed = await eventually('moth has flown', async () => {
    const { lines } = await as(owl.token, ['member', 'capture'], '--lines', '20', ...theMoth)
    return lines.join('\n').includes('flown') ? lines : undefined
  })
  expect(printed.length).toBeLessThanOrEqual(20)
  expect(await as(owl.token, ['member', 'ping'], ...theMoth)).toMatchObject({ alive: true })
  expect(await as(owl.token, ['member', 'nudge'], ...theMoth, 'do: echo flown again')).toMatchObject({
    text: 'do: echo flown again',
  })
  for (const verb of [
    ['send-input', '--choice', '1'],
    ['send-input', '--freetext', 'yes'],
    ['exec', 'ls'],
  ])
    expect(await fails(undefined, 1, 'member', ...verb, ...theMoth), verb.join(' ')).toMatch(/no terminal|in tmux/)
  expect(await fails(owl.token, 2, 'member', 'send-input', ...theMoth)).toMatch(/--freetext/)
  call('member send-input', 'member exec')
  // The server watches the teams that it makes, so a start changes nothing; two never both win.
  expect(await as(owl.token, ['monitor', 'start'], ...night)).toMatchObject({ started: false })
  expect(await as(owl.token, ['monitor', 'config'], '--interval', '60', '--off', ...night)).toMatchObject({
    running: false,
    members: expect.arrayContaining([expect.objectContaining({ name: 'moth', interval: 60 })]),
  })
  const starts = [1, 2].map(() => as(owl.token, ['monitor', 'start'], ...night))
  expect((await Promise.all(starts)).filter(({ started }) => started)).toHaveLength(1)
  expect(JSON.stringify(await as(owl.token, ['monitor', 'status'], ...night))).toContain('moth')
  expect(await fails(bat.token, 1, 'member', 'delete', '--member-id', 'moth', '--force', ...night)).toMatch(
    /teams\.manage/,
  )
  await as(owl.token, ['member', 'delete'], '--member-id', 'moth', ...night)
  await as(owl.token, ['agent', 'deregister'], ...owlId, ...night)
  await as(undefined, ['session', 'delete', session_id])

  const refused = await typed(['as', 'cafleet', 'session', 'list'], undefined, { CAFLEET_DATABASE_URL: 'sqlite:///x' })
  expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(/CAFLEET_DATABASE_URL.*not read here/)])
  const env = { CAFLEET_BROKER_HOST: '127.0.0.1', CAFLEET_BROKER_PORT: '1', JWT_SECRET: 's', MAX_WORKERS: '9' }
  const up = await typed(['as', 'cafleet', 'server', '--detach'], undefined, env)
  expect(up.err).toMatch(/JWT_SECRET is not used[\s\S]*MAX_WORKERS is not used[\s\S]*already up/)
  expect(up.err).not.toContain('CAFLEET_BROKER')
  expect((await typed(['as', 'cafleet', 'doctor'])).out + (await typed(['doctor'])).out).toContain('git')
  expect((await typed(['as', 'cafleet', 'setup', '--dry-run'])).code).toBe((await typed(['setup', '--dry-run'])).code)
  call('server', 'doctor', 'setup')
  expect(forgotten()).toEqual([])
})

/** A script in a window that asks before it goes on, and does not end when it is asked to. */
const STUBBORN = `trap '' HUP TERM
printf '> '
while read -r line; do
  case $line in
  *ask*) printf 'Delete it? [y/N] '; read -r answer; echo "answered $answer" ;;
  *) echo "heard: $line" ;;
  esac
  printf '> '
done`

test.skipIf(!tmuxIn)('a member of CAFleet in a window is captured, answered, pinged, nudged and deleted', async () => {
  const { fleet } = crew.scene
  const { end } = tmuxIn!(fleet.fleet.home.path)
  onTestFinished(end)
  const as = async (...args: string[]) => {
    const { code, out, err } = await typed(['as', 'cafleet', '--session-id', 'crew', 'member', ...args])
    return { code, err, answer: (out ? JSON.parse(out) : undefined) as Anything }
  }
  const theFrog = ['--member-id', 'frog']
  const agent = ['--coding-agent', 'shell', '--description', STUBBORN]
  expect((await as('create', '--name', 'frog', ...agent, '--tmux')).code).toBe(0)
  const showing = (text: string, state: string) =>
    eventually(
      `${text}, ${state}`,
      async () => {
        const { answer } = await as('capture', '--lines', '30', ...theFrog)
        return answer?.state === state && answer.lines.join('\n').includes(text)
      },
      async () => JSON.stringify(await as('capture', ...theFrog)),
    )
  await showing('>', 'idle')
  expect((await as('ping', ...theFrog)).answer).toMatchObject({ alive: true, state: 'idle', unread: 0 })
  expect((await as('nudge', ...theFrog, 'ask')).answer).toMatchObject({ text: 'A reminder: "ask".' })
  await showing('Delete it?', 'prompt')
  expect((await as('nudge', ...theFrog, 'hello')).code).toBe(1)
  expect((await as('send-input', ...theFrog, '--freetext', 'y')).code).toBe(0)
  await showing('answered y', 'idle')
  const left = await as('delete', ...theFrog)
  expect([left.code, left.err]).toEqual([2, expect.stringMatching(/answered y[\s\S]*did not end/)])
  expect((await as('delete', ...theFrog, '--force')).answer).toMatchObject({ name: 'frog', status: 'deleted' })
})
