import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LINER, STAND_INS } from '../../agents/stand-ins.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

const FILLING = {
  ...LINER,
  context_limit: 1000,
  events: [
    ...LINER.events,
    { event: 'text', when: { kind: 'word' }, text: 'words' },
    { event: 'context', when: { kind: 'ctx' }, used: 'used' },
    { event: 'provider_window', when: { kind: 'quota' }, name: 'name', used_percent: 'used', resets_at: 'resets' },
  ],
}
const { cost_usd: _, ...tokensOnly } = LINER.events.find(({ event }) => event === 'usage')!
const COUNTING = {
  ...{ ...LINER, name: 'counting' },
  events: [...LINER.events.filter(({ event }) => event !== 'usage'), tokensOnly],
}

/** A fleet with agents whose scripts report their usage in their own lines. */
async function scene(env: Record<string, string> = {}): Promise<Scene> {
  const made = await aScene({ env: { PATH: `${STAND_INS}:${process.env.PATH}`, ...env } })
  writeFileSync(join(made.fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [FILLING, COUNTING] }))
  await made.fleet.call('update_project', { project_id: made.project.id, agent: 'liner' })
  return made
}

const print = (line: object): string => `echo '${JSON.stringify(line)}'`
const FOR_EVER = 'while :; do sleep 0.1; done'

test('a full context window: the agent is stopped, and a fresh conversation goes on with what is handed over', async () => {
  const { fleet, repo, project } = await scene()
  const fill = `echo a >a.txt; echo 'Step two is next.' >"$FLEET_TASK_DIR/plan.md"; ${print({ kind: 'word', words: 'Half of it is done.' })}; ${print({ kind: 'ctx', used: 400 })}; ${print({ kind: 'ctx', used: 950 })}; ${FOR_EVER}`
  const script = `do: rm liner.script; if [ "$FLEET_REASON" = hand_over ]; then echo b >b.txt; else trap '' TERM; ${fill}; fi`
  const { id } = await fleet.mission(project, script)

  // The server dies while it stops the agent, and again before the next conversation starts.
  const { store, blobs } = fleet.fleet
  await eventually('it is being stopped', async () => {
    const session = (await fleet.show(id)).sessions[0]
    return session && (await store.get('sessions', session.id))?.value.stopping?.outcome === 'handed_over'
  })
  await fleet.call('pause', { project_id: project.id })
  await fleet.kill()
  await fleet.start()
  const between = await eventually('it is queued', async () => {
    const mission = await fleet.show(id)
    return mission.status === 'queued' ? mission : undefined
  })
  expect(between).toMatchObject({ hand_overs: 1, failures: 0, status_reason: { code: 'context_full' } })
  expect(fleet.processes(between.sessions[0]!.id)).toEqual([])
  await fleet.kill()
  await fleet.start()
  await fleet.call('unpause', { project_id: project.id })

  const done = await fleet.until(id, 'done', 'failed', 'needs_input')
  expect(done, JSON.stringify(done.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
  expect(done.sessions).toMatchObject([
    { outcome: 'handed_over', context: { used_tokens: 950, peak_tokens: 950, window_tokens: 1000 } },
    { outcome: 'completed', reason: 'hand_over', resumes: null, branch: between.branch },
  ])
  expect(done.sessions[0]!.outcome_reason).toContain('95 % full, 950 of 1000 tokens; its limit is 90 %')
  expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(['a.txt', 'b.txt']))
  const prompt = await blobs.read((await store.get('sessions', done.sessions[1]!.id))!.value.prompt!)
  for (const told of ['Half of it is done.', 'a.txt (added)', 'plan.md', 'Step two is next.'])
    expect(prompt).toContain(told)
  const { stdout } = await fleet.fleetCommand(['mission', 'show', id])
  expect(stdout).toContain('context 95 % of 1,000 tokens')
})

test('at most twice; then a person is asked, nothing has landed, and a higher limit lets the same conversation go on', async () => {
  const { fleet, repo, project } = await scene()
  const script = `do: rm liner.script; echo $FLEET_REASON >>log.txt; [ "$FLEET_REASON" = resume ] && exit; ${print({ kind: 'ctx', used: 850 })}; ${FOR_EVER}`
  const { id } = await fleet.mission(project, script, { context_limit_percent: 80 })
  const limited = await fleet.until(id, 'needs_input', 'done', 'failed')
  expect(limited).toMatchObject({ status: 'needs_input', status_reason: { code: 'limit' }, failures: 0 })
  expect(limited.sessions.map(({ reason, outcome }) => [reason, outcome])).toEqual([
    ['first', 'handed_over'],
    ['hand_over', 'handed_over'],
    ['hand_over', 'limited'],
  ])
  expect(await repo.filesOn('main')).not.toContain('log.txt')
  expect(await repo.readOn(limited.branch!, 'log.txt')).toBe('first\nhand_over\nhand_over')

  await fleet.call('resume_mission', { mission_id: id, context_limit_percent: 95 })
  const done = await fleet.until(id, 'done', 'failed', 'needs_input')
  expect(done).toMatchObject({ result: 'landed', sessions: [{}, {}, {}, { resumes: 't-1' }] })
})

test('what costs money by the table of prices is held to a budget, and what has no price is refused one', async () => {
  const { fleet, project } = await scene()
  const file = join(fleet.fleet.home.path, 'prices.json')
  const price = { input: 1000, cached_input: 100, cache_write: 1000, output: 5000 }
  writeFileSync(file, JSON.stringify({ models: { 'a-model': { price } } }))
  const script = `do: rm liner.script; ${print({ kind: 'bill', tokens: { in: 1000, out: 20 } })}; ${FOR_EVER}`
  const options = { agent: 'counting', model: 'a-model', max_budget_usd: 1 }
  const { id } = await fleet.mission(project, script, options)
  const limited = await fleet.until(id, 'needs_input', 'done', 'failed')
  expect(limited).toMatchObject({ status: 'needs_input', sessions: [{ outcome: 'limited' }] })
  expect(limited.sessions[0]!.usage!.cost_usd).toBeCloseTo(1.1)
  expect(limited.status_reason?.text).toBe('It reached its budget of $1: $1.10 spent, $0.1000 over.')
  expect(await fleet.call('list_spending')).toMatchObject({ spending: [{ cost_usd: expect.closeTo(1.1) }] })

  const unpriced = fleet.mission(project, 'do: true', { ...options, model: 'another' })
  await expect(unpriced).rejects.toThrow('There is no price for the model another')

  writeFileSync(file, '{"models":{"a-model":{"price":{"input":-1}}}}')
  expect((await fleet.fleetCommand(['doctor'])).stdout).toContain('prices.json, models.a-model.price.input')
  const without = await fleet.mission(project, 'do: echo x >x.txt', { agent: 'counting', model: 'a-model' })
  expect(await fleet.until(without.id, 'done', 'failed')).toMatchObject({ status: 'done' })
  expect(existsSync(file)).toBe(true)
})

test("agents at work side by side are held to one day's budget, and nothing new starts on what they have spent", async () => {
  const { fleet, project } = await scene()
  await fleet.call('update_project', { project_id: project.id, daily_budget_usd: 1 })
  const script = `do: ${print({ kind: 'bill', tokens: { in: 1, out: 1 }, usd: 0.6 })}; ${FOR_EVER}`
  const both = [await fleet.mission(project, script), await fleet.mission(project, script)]
  for (const { id } of both) {
    const mission = await fleet.until(id, 'needs_input', 'done', 'failed')
    expect(mission).toMatchObject({ status: 'needs_input', sessions: [{ outcome: 'limited' }] })
    expect(mission.status_reason?.text).toBe(
      "Today's budget of project test, $1, is spent: $1.20 used today, $0.2000 over.",
    )
    expect(mission.status_reason?.try).toContain(`fleet project set ${project.id} --daily-budget`)
  }
  const third = await fleet.mission(project, 'do: true')
  const [waits] = await eventually('it waits', async () => {
    const { waits_for } = await fleet.show(third.id)
    return waits_for.length ? waits_for : undefined
  })
  expect(waits).toMatchObject({ kind: 'budget' })
})

const bill = (usd: number): string => print({ kind: 'bill', tokens: { in: 1, out: 1 }, usd })

test("a mission's budget is for all its tries and conversations together, until a person raises it", async () => {
  const { fleet, project } = await scene()
  const fails = `do: ${bill(0.6)}; kill -9 $PPID`
  const fills = `do: rm liner.script; ${bill(0.6)}; ${print({ kind: 'ctx', used: 950 })}; ${FOR_EVER}`
  const tried = await fleet.mission(project, fails, { max_budget_usd: 1, max_retries: 2 })
  const handed = await fleet.mission(project, fills, { max_budget_usd: 1 })
  for (const { id } of [tried, handed]) {
    const limited = await fleet.until(id, 'needs_input', 'done', 'failed')
    expect(limited, JSON.stringify(limited.status_reason)).toMatchObject({
      ...{ status: 'needs_input', status_reason: { code: 'limit' }, sessions: [{}, {}] },
    })
    expect(limited.usage.cost_usd).toBeCloseTo(1.2)
    expect(limited.status_reason?.text).toBe('It reached its budget of $1: $1.20 spent, $0.2000 over.')
    expect(limited.status_reason?.try).toContain(`fleet mission edit ${id} --budget`)
  }

  // Resuming without more budget costs nothing, and says why it stops.
  await fleet.call('resume_mission', { mission_id: tried.id })
  const still = await fleet.until(tried.id, 'needs_input', 'done', 'failed')
  expect(still).toMatchObject({ status: 'needs_input', sessions: [{}, {}] })
  expect(still.status_reason?.text).toBe('It reached its budget of $1: $1.20 spent, $0.2000 over.')
  await fleet.call('update_mission', { mission_id: tried.id, max_budget_usd: 5, max_retries: 0 })
  await fleet.call('resume_mission', { mission_id: tried.id })
  const raised = await fleet.until(tried.id, 'needs_input', 'done', 'failed')
  expect(raised.sessions.map(({ outcome }) => outcome).at(2)).toBe('completed')
})

test("a day's budget lets nothing start once it is spent by those at work, and says whose it is", async () => {
  const { fleet, project } = await scene()
  await fleet.call('update_project', { project_id: project.id, daily_budget_usd: 1 })
  const script = `do: ${bill(0.8)}; ${FOR_EVER}`
  const first = await fleet.mission(project, script)
  await eventually('it has spent', async () => (await fleet.show(first.id)).usage.cost_usd > 0)
  const second = await fleet.mission(project, script)
  const limited = await fleet.until(second.id, 'needs_input', 'done', 'failed')
  expect(limited.status_reason).toMatchObject({
    code: 'limit',
    text: "Today's budget of project test, $1, is spent: $1.60 used today, $0.6000 over.",
    try: expect.stringContaining(`fleet project set ${project.id} --daily-budget`),
  })
  const third = await fleet.mission(project, script)
  const waits = await eventually('it waits', async () => (await fleet.show(third.id)).waits_for[0])
  expect(waits).toMatchObject({ kind: 'budget', text: "today's budget of project test is spent: $1" })
  expect((await fleet.show(third.id)).sessions).toEqual([])
  const { usage } = await fleet.call<{ usage: { cost_usd: number } }>('get_budgets')
  expect(usage.cost_usd).toBeCloseTo(1.6)
})

test('a provider whose window is nearly used up gets nothing new before its reset; others go on', async () => {
  const { fleet, project } = await scene({ FLEET_WINDOW_LIMIT: '80' })
  const quota = (used: number, resets: string) => print({ kind: 'quota', name: 'hourly', used, resets })
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const first = await fleet.mission(project, `do: echo a >a.txt; ${quota(79, later)}; ${quota(81, later)}`)
  await fleet.until(first.id, 'done')

  const second = await fleet.mission(project, 'do: echo b >b.txt')
  const waits = await eventually('it waits', async () => (await fleet.show(second.id)).waits_for[0])
  expect(waits).toMatchObject({ kind: 'provider_window', until: later })
  expect(waits.text).toContain('81 % of the window hourly of liner')
  const shell = await fleet.mission(project, 'echo c >c.txt', { agent: 'shell' })
  await fleet.until(shell.id, 'done')
  expect(await fleet.call('system_status')).toMatchObject({
    providers: [{ id: 'liner', held_until: null, windows: [{ name: 'hourly', used_percent: 81, resets_at: later }] }],
  })
  expect((await fleet.fleetCommand(['status'])).stdout).toContain('hourly 81 % used')
  expect((await fleet.fleetCommand(['agents'])).stdout + (await fleet.fleetCommand(['agents'])).stderr).toContain(
    'liner: hourly 81 % used',
  )
  expect((await fleet.show(second.id)).sessions).toEqual([])
})
