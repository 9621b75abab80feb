import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { steps } from '../model/index.ts'
import { eventually } from './fleet.ts'
import { prompt } from './mission-scenarios.ts'
import type { Scene } from './scene.ts'

/** A tenth of the largest context window, and more expensive than LITTLE_USD with every model. */
const MUCH = { input: 100_000 }
const LITTLE_USD = 0.2

/** For any client that reports how full its window is. The settings may name a model whose window nobody reports. */
export function contextScenario(scene: () => Promise<Scene>, settings: { agent?: string; model?: string } = {}): void {
  test('under context pressure it is stopped, and a fresh conversation goes on with what was handed over', async () => {
    const { fleet, repo, project, gate } = await scene()
    const { model } = settings
    const known = model ? { [model]: { context_window: 200_000 } } : {}
    writeFileSync(join(fleet.fleet.home.path, 'prices.json'), JSON.stringify({ models: known }))
    // The scripted model follows the newest script it is shown, which is in the notes of the first conversation.
    const rest = steps({ write: 'rest.txt', content: 'rest\n' }, { say: 'All of it is done.' })
    const note = `echo half >half.txt; printf '%s\\n' '${rest}' >"$FLEET_TASK_DIR/plan.md"`
    const script = prompt(
      { run: note },
      { run: 'true', tokens: MUCH },
      { run: gate('full').wait },
      { say: 'Never said.' },
    )
    const { id } = await fleet.mission(project, script, { ...settings, context_limit_percent: 5 })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')

    expect(done, JSON.stringify(done.status_reason)).toMatchObject({ status: 'done', result: 'landed', failures: 0 })
    expect(done.sessions.map(({ reason, outcome }) => [reason, outcome])).toEqual([
      ['first', 'handed_over'],
      ['hand_over', 'completed'],
    ])
    const [first, second] = done.sessions
    expect(first!.context!.peak_tokens).toBeGreaterThanOrEqual(MUCH.input)
    expect(first!.outcome_reason).toMatch(/context window is \d+ % full/)
    expect(fleet.processes(first!.id)).toEqual([])
    expect(second!.conversation).not.toBe(first!.conversation)
    expect(second!.context!.peak_tokens).toBeLessThan(MUCH.input)
    expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(['half.txt', 'rest.txt']))
  })
}

/** For any client whose cost is known while it works. */
export function budgetScenario(scene: () => Promise<Scene>, settings: object = {}): void {
  test('stops at its limit of money with the work kept; when it goes on, nothing is counted twice', async () => {
    const { fleet, repo, project, gate } = await scene()
    const script = prompt(
      { write: 'one.txt', content: '1\n', tokens: MUCH },
      { run: gate('dear').wait },
      { say: 'No.' },
    )
    const { id } = await fleet.mission(project, script, { ...settings, max_budget_usd: LITTLE_USD })
    const limited = await fleet.until(id, 'needs_input', 'done', 'failed')
    expect(limited).toMatchObject({ status: 'needs_input', status_reason: { code: 'limit' } })
    expect(limited.status_reason!.text).toMatch(/budget.*\$[\d.]+ spent/)
    expect(limited.sessions[0]!.usage!.cost_usd).toBeGreaterThan(LITTLE_USD)
    expect(fleet.processes(limited.sessions[0]!.id)).toEqual([])
    expect(await repo.filesOn('main')).not.toContain('one.txt')

    const message = steps({ write: 'two.txt', content: '2\n' }, { say: 'Done now.' })
    await fleet.call('resume_mission', { mission_id: id, max_budget_usd: 50, message })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done, JSON.stringify(done.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
    const [first, second] = done.sessions
    expect(second!.conversation).toBe(first!.conversation)
    expect(second!.usage!.cost_usd).toBeGreaterThan(0)
    expect(second!.usage!.cost_usd).toBeLessThan(LITTLE_USD)
    const { spending } = await fleet.call<{ spending: { cost_usd: number }[] }>('list_spending')
    expect(spending[0]!.cost_usd).toBeCloseTo(first!.usage!.cost_usd + second!.usage!.cost_usd, 6)
  })
}

/** For any client whose cost is known at all; `tellsThought`: it also reports thinking tokens. */
export function daysBudgetScenario(
  scene: () => Promise<Scene>,
  { tellsThought = true, ...settings }: { agent?: string; tellsThought?: boolean } = {},
): void {
  test("what it costs is taken from the day's budget, and once that is spent the next mission waits", async () => {
    const { fleet, project } = await scene()
    await fleet.call('update_project', { project_id: project.id, daily_budget_usd: 0.0001 })
    const thought = { output: 20, reasoning: 7 }
    const script = prompt({ write: 'a.txt', content: 'a\n', tokens: thought }, { say: 'Done.' })
    const first = await fleet.mission(project, script, settings)
    const ended = await fleet.until(first.id, 'done', 'needs_input', 'failed')
    expect(ended.sessions[0]!.usage!.cost_usd).toBeGreaterThan(0.0001)
    expect(ended.sessions[0]!.usage!.reasoning_tokens).toBe(tellsThought ? thought.reasoning : 0)
    const second = await fleet.mission(project, script, settings)
    const waits = await eventually('it waits', async () => (await fleet.show(second.id)).waits_for[0])
    expect(waits.kind).toBe('budget')
  })
}
