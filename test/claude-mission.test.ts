import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claudeBinary, HOW_TO_INSTALL } from './clients/clients.ts'
import { eventually } from './kit/fleet.ts'
import { aScene, type Scene } from './kit/scene.ts'
import { type Model, type Step, startModel, steps } from './model/index.ts'

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** The real client as a mission's agent: through the runner, its files, its fifo and a real server. */
describe.skipIf(!binary)('a mission for the real Claude client', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  const scene = (): Promise<Scene> =>
    aScene({
      project: { agent: 'claude' },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '1',
      },
    })
  const prompt = (...script: Step[]): string => `Do it.\n${steps(...script)}`

  test('edits, reports and lands', async () => {
    const { fleet, repo, project } = await scene()
    const { id } = await fleet.mission(
      project,
      prompt({ write: 'made.txt', content: 'by claude\n' }, { say: 'I made made.txt.' }),
    )
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')

    expect(mission).toMatchObject({
      status: 'done',
      result: 'landed',
      report: { summary: 'I made made.txt.', files_changed: [{ path: 'made.txt', change: 'added' }] },
    })
    expect(await repo.readOn('main', 'made.txt')).toBe('by claude')
    expect(mission.sessions[0]).toMatchObject({ outcome: 'completed', usage: { turns: 2 } })
    expect(mission.sessions[0]!.usage!.cost_usd).toBeGreaterThan(0)
    expect(await repo.git('status', '--porcelain')).toBe('')
  })

  test('goes on while the server is dead, is taken up, and lands with no gap in its transcript', async () => {
    const { fleet, repo, project, gate } = await scene()
    const held = gate('turn')
    const { id } = await fleet.mission(
      project,
      prompt({ run: held.wait }, { write: 'after.txt', content: 'after\n' }, { say: 'Survived.' }),
    )
    await eventually('the agent is at its tool', () => held.reached())

    await fleet.kill()
    held.open()
    await fleet.start()
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')

    expect(mission).toMatchObject({ status: 'done', result: 'landed', report: { summary: 'Survived.' } })
    expect(mission.sessions).toHaveLength(1)
    expect(await repo.readOn('main', 'after.txt')).toBe('after')
    const stream = await (await fleet.http(`/api/sessions/${mission.sessions[0]!.id}/stream`)).text()
    const kinds = [...stream.matchAll(/^event: (\w+)$/gm)].map(match => match[1])
    expect(kinds.filter(kind => kind === 'tool_call')).toHaveLength(2)
    expect(kinds.filter(kind => kind === 'tool_result')).toHaveLength(2)
    expect(kinds.at(-1)).toBe('end')
  })

  test('stops at its limit of turns with the work kept, and goes on in the same conversation with a larger one', async () => {
    const { fleet, repo, project } = await scene()
    const script = prompt(
      { write: 'one.txt', content: '1\n' },
      { write: 'two.txt', content: '2\n' },
      { write: 'three.txt', content: '3\n' },
      { say: 'All three.' },
    )
    const { id } = await fleet.mission(project, script, { max_turns: 1 })
    const limited = await fleet.until(id, 'needs_input', 'done', 'failed')
    expect(limited).toMatchObject({ status: 'needs_input', status_reason: { code: 'limit' } })
    expect(await repo.filesOn('main')).not.toContain('one.txt')

    await fleet.call('resume_mission', {
      mission_id: id,
      max_turns: 20,
      message: steps({ write: 'two.txt', content: '2\n' }, { say: 'Done now.' }),
    })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done).toMatchObject({ status: 'done', result: 'landed' })
    expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(['one.txt', 'two.txt']))
    expect(done.sessions[1]!.conversation).toBe(done.sessions[0]!.conversation)
  })

  test('cancelled in the middle of a tool, leaves no process and keeps its work', async () => {
    const { fleet, repo, project, gate } = await scene()
    const held = gate('tool')
    const { id } = await fleet.mission(project, prompt({ write: 'half.txt', content: 'half\n' }, { run: held.wait }))
    await eventually('the tool runs', () => held.reached())

    await fleet.call('cancel_mission', { mission_id: id })
    const { sessions, branch } = await fleet.until(id, 'cancelled')
    expect(fleet.processes(sessions[0]!.id)).toEqual([])
    expect(await repo.readOn(branch!, 'half.txt')).toBe('half')
  })

  test('a prompt of 200 kB arrives byte for byte', async () => {
    const { fleet, project } = await scene()
    const long = `${'"quotes" $(and) `more` \\ ünïcödé 🚢 '.repeat(5000)}\n${steps({ write: 'x.txt', content: 'x' }, { say: 'Read.' })}`
    const { id } = await fleet.mission(project, long)
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(mission.status).toBe('done')
    const arrived = model.requests.some(({ body }) =>
      JSON.stringify(body ?? '').includes(JSON.stringify(long).slice(1, -1)),
    )
    expect(arrived).toBe(true)
    expect(readFileSync(`${fleet.fleet.home.session(mission.sessions[0]!.id)}/agent-1/sent`, 'utf8')).toContain(
      'quotes',
    )
  })
})
