import { expect, test } from 'vitest'
import { InvalidInput } from '../domain/errors.ts'
import { EXIT } from './exit.ts'
import { fleet } from './testing.ts'

test('a subcommand with a slip in it names the nearest', async () => {
  for (const args of [
    ['mission', 'lnd', '1'],
    ['mission', 'lnd'],
    ['task', 'dispach', 'x'],
  ]) {
    const { code, err } = await fleet(args)
    expect(code).toBe(EXIT.usage)
    expect(err).toContain(`Unknown command '${args[1]}'`)
  }
  expect((await fleet(['mission', 'lnd', '1'])).err).toBe(
    "fleet: Unknown command 'lnd'.\n  Try: fleet mission land, or fleet mission --help\n",
  )
  expect((await fleet(['task', 'k7xq2m9d', 'nonsense'])).err).toContain('is not a part of a task')
})

test('an empty list says whether there is nothing yet, or nothing like that', async () => {
  const answers = { list_missions: { missions: [] } }
  expect((await fleet(['mission', 'list'], { answers })).err).toBe(
    'There are no missions yet. Make one: fleet run "<what to do>"\n',
  )
  expect((await fleet(['mission', 'list', '--status', 'failed'], { answers })).err).toBe('No missions match.\n')
})

test('--json stands once in the help of call', async () => {
  const { out } = await fleet(['call', '--help'])
  expect(out.match(/^ +--json/gm)).toHaveLength(1)
})

test('a refused field is named as people know it, and for programs as in the API', async () => {
  const answers = {
    get_mission: () => {
      throw new InvalidInput('team_id', 'is missing: there is no team yet')
    },
  }
  expect((await fleet(['show', '4f2a'], { answers })).err).toBe('fleet: The team is missing: there is no team yet.\n')
  expect(JSON.parse((await fleet(['--json', 'show', '4f2a'], { answers })).err).error).toMatchObject({
    field: 'team_id',
    message: 'team_id: is missing: there is no team yet',
  })
})

test('one worktree is one, a status is said once, and what was read is not missing', async () => {
  const worktree = { mission_id: null, project_id: 'p', path: '/w', state: 'warm', bytes: 0, repository_bytes: 0 }
  const listed = { worktrees: [{ ...worktree, created_at: new Date().toISOString() }], bytes: 0 }
  const { out } = await fleet(['worktree', 'list'], { answers: { list_worktrees: listed } })
  expect(out).toContain('1 worktree, ')

  const landing = {
    id: 'abcdefgh1234',
    title: 'Build',
    status: 'landing',
    status_reason: null,
    waits_for: [],
    warnings: [],
  }
  const landed = await fleet(['land', 'abc', '--commit', 'c0ffee'], { answers: { land_mission: landing } })
  expect(landed.out).toBe('Mission abcdef "Build": landing\n')
  const waits = { ...landing, created_at: new Date().toISOString(), waits_for: [{ kind: 'landing', text: 'landing' }] }
  const list = await fleet(['list'], { answers: { list_missions: { missions: [waits], cursor: null } } })
  expect(list.out.match(/landing/g)).toHaveLength(1)

  const answers = { blackboard_read: { posts: [] } }
  expect((await fleet(['blackboard', 'read'], { answers })).err).toBe('There is nothing on the blackboard.\n')
  expect((await fleet(['blackboard', 'read', '--unread'], { answers })).err).toBe(
    'You have read everything on the blackboard.\n',
  )
})

test('a word that could be several commands names each as it is typed', async () => {
  expect((await fleet(['lst'])).err).toBe(
    "fleet: Unknown command 'lst'.\n  Try: fleet list, or fleet ls, or fleet --help\n",
  )
})

test('the help of a group lists help among its commands', async () => {
  const { out } = await fleet(['schedule', '--help'])
  expect(out.match(/^[A-Z][a-z ]+:$/gm)).toEqual(['Options:', 'Commands:', 'Examples:'])
  expect(out).toMatch(/^ {2}help \[command\]/m)
})

test('an event is a line of 80 columns: when, what, which mission, who and why', async () => {
  const event = {
    id: 'e1',
    time: '2026-03-01T06:00:00.123Z',
    kind: 'conflict',
    mission_id: 'abcdefgh1234',
    session_id: 'klmnopqr5678',
    actor: 'fleet',
    cause: 'Its work is in conflict with the base branch: ship.txt, hull.txt and mast.txt.',
  }
  const answers = { list_events: { events: [event], cursor: '1', start: '1', more: false } }
  expect((await fleet(['events'], { answers, terminal: true, env: { NO_COLOR: '1' } })).out).toBe(
    '2026-03-01 06:00:00Z  conflict           abcdef  Its work is in conflict with t…\n',
  )
  expect((await fleet(['events'], { answers })).out).toContain('hull.txt and mast.txt.  session klmnop\n')
})

test('every list is called list, also that of loops', async () => {
  const project = { id: 'p', name: 'Harbour', path: '/harbour' }
  const answers = { get_project: project, list_loops: { loops: [] } }
  for (const verb of ['history', 'list', 'ls'])
    expect((await fleet(['loop', verb, '--project', 'p'], { answers })).out).toBe(
      'There are no loops yet. Start one: fleet loop start "<goal>"\n',
    )
})

test('where nobody names a team, that of the repository is meant', async () => {
  const missing = () => new InvalidInput('team_id', 'is missing: there are the teams crew, shipyard')
  const answersWith = (teams: { id: string }[]) => {
    const tried = [missing()]
    const swarm_list = () => tried.pop() ?? { swarms: [] }
    return { swarm_list, list_projects: { projects: [{ id: 'p1' }] }, list_teams: { teams } }
  }
  const { code, asked } = await fleet(['swarm', 'list'], { answers: answersWith([{ id: 't1' }]) })
  expect(code).toBe(0)
  expect(asked.filter(({ operation }) => operation === 'list_teams')).toMatchObject([{ input: { project_id: 'p1' } }])
  expect(asked.at(-1)).toEqual({ operation: 'swarm_list', input: { team_id: 't1' } })
  for (const teams of [[], [{ id: 't1' }, { id: 't2' }]]) {
    const { code, err } = await fleet(['swarm', 'list'], { answers: answersWith(teams) })
    expect([code, err]).toEqual([EXIT.usage, 'fleet: The team is missing: there are the teams crew, shipyard.\n'])
  }
  const named = await fleet(['swarm', 'list', '--team', 'crow'], { answers: { swarm_list: missing } })
  expect(named.asked.map(({ operation }) => operation)).toEqual(['swarm_list'])
})

test('a reply that was waited for is read', async () => {
  const delivery = { to: 'ada', state: 'replied', closed_at: '2026-01-01T00:00:00Z', held: null, reason: null }
  const mail = { id: 'm1', team_id: 't1', project_id: 'p1', from: { handle: 'operator' }, to: ['ada'], subject: '' }
  const sent = { ...mail, needs: 'reply', created_at: '2026-01-01T00:00:00Z', body: 'When?', deliveries: [delivery] }
  const reply = { ...sent, id: 'm2', reply_to: 'm1', from: { handle: 'ada' }, to: ['operator'], body: 'At noon.' }
  const heard = { ...reply, deliveries: [{ ...delivery, to: 'operator', state: 'heard' }] }
  const answers = {
    send_mail: sent,
    get_mail: sent,
    list_mail: { messages: [reply] },
    list_events: { events: [] },
    read_mail: { messages: [heard] },
  }
  const { out, asked } = await fleet(['mail', 'send', 'ada', 'When?', '--wait'], { answers })
  expect(asked.at(-1)).toEqual({
    operation: 'read_mail',
    input: { team_id: 't1', mail_ids: ['m2'], filter: 'all' },
  })
  expect(out).toMatch(/At noon\.\n.*operator: heard/)
})

test('a task and a request say why they wait in one sentence', async () => {
  const review = 'Its work waits for review.'
  const task = {
    id: 't1',
    title: 'Dig',
    assignee: { handle: 'ada' },
    state: 'review',
    waits_for: [review],
    why: review,
  }
  const more = { handing_to: null, blockers: [], candidate: null, landed: null, description: 'Deep.' }
  const { out } = await fleet(['team', 'task', 'show', 't1'], { answers: { get_team_task: { ...task, ...more } } })
  expect(out).toBe('Dig  t1\nada has it. It is in review: Its work waits for review.\n\nDeep.\n')
  const refused = { id: 's1', handle: 'dora', role: 'worker', state: 'refused', waits_for: null, reason: 'No agent.' }
  const spawned = await fleet(['team', 'spawn', 'dora', 'Dig'], { answers: { team_spawn: refused } })
  expect(spawned.out).toBe('The request s1 for a worker is refused: No agent.\n')
})

test('a member is created by either name, with what a team file can say', async () => {
  const settings = ['--effort', 'high', '--preset', 'review', '--approvals', 'ask', '--label', 'north']
  for (const words of [
    ['team', 'add'],
    ['member', 'create'],
  ]) {
    const args = [...words, 'crew', 'ada', '--agent', 'claude', ...settings]
    const { asked } = await fleet(args, { answers: { add_member: { handle: 'ada', role: 'worker' } } })
    expect(asked).toEqual([
      {
        operation: 'add_member',
        input: {
          ...{ team_id: 'crew', handle: 'ada', charter: '', agent: 'claude', effort: 'high' },
          ...{ tool_preset: 'review', approvals: 'ask', labels: ['north'] },
        },
      },
    ])
  }
})

test('CAFleet without a session means the team of the repository', async () => {
  const missing = new InvalidInput('team_id', 'is missing: there are the teams crew, shipyard')
  const team = { id: 't1', name: 'crew', members: [] }
  const answers = { team_status: missing, list_projects: { projects: [{ id: 'p1' }] }, get_team: team }
  const listed = await fleet(['as', 'cafleet', 'agent', 'list', '--agent-id', 'operator'], {
    answers: { ...answers, list_teams: { teams: [{ id: 't1' }] }, who_am_i: { kind: 'owner' } },
  })
  expect(listed.asked).toContainEqual({ operation: 'get_team', input: { team_id: 't1' } })
})
