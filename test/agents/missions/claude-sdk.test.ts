import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claude } from '../../../src/agents/claude/adapter.ts'
import { claudeBinary, claudeSdk, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually } from '../../kit/fleet.ts'
import { missionScenarios, prompt, rateLimitScenario } from '../../kit/mission-scenarios.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { type Model, startModel, steps } from '../../model/index.ts'

const binary = claudeBinary()
const sdk = claudeSdk()
if (!binary || !sdk) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** The real client, driven by the real SDK inside a real server. */
describe.skipIf(!binary || !sdk)('a mission for the real Claude client through its SDK', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  const scene = (env: Record<string, string> = {}): Promise<Scene> =>
    aScene({
      project: { agent: 'claude' },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '1',
        FLEET_CLAUDE_ENGINE: 'sdk',
        FLEET_CLAUDE_SDK: sdk!,
        ...env,
      },
    })
  missionScenarios(claude.engines!.sdk!, scene, () => model)
  rateLimitScenario(scene, 2)

  test('a message reaches it in the middle of its work', async () => {
    const { fleet, project, gate } = await scene()
    const held = gate('tool')
    const script = prompt({ run: held.wait }, { write: 'a.txt', content: 'a\n' }, { say: 'Done.' })
    const { id } = await fleet.mission(project, script)
    await eventually('the tool runs', () => held.reached())
    const said = await fleet.call('say_to_mission', { mission_id: id, text: 'Mind the lighthouse.' })
    expect(said).toMatchObject({ heard: 'mid-turn' })
    const { session_id } = await fleet.show(id)
    const sent = join(fleet.fleet.home.session(session_id!), 'agent-1/sent')
    await eventually('it has been sent', () => readFileSync(sent, 'utf8').includes('lighthouse'))
    held.open()
    const mission = await fleet.until(id, 'done', 'failed')
    expect((await fleet.events()).map(({ kind }) => kind)).toContain('message_arrived')
    expect(mission.sessions).toMatchObject([{ engine: 'sdk', outcome: 'completed' }])
    expect(model.requests.some(({ body }) => JSON.stringify(body ?? '').includes('Mind the lighthouse.'))).toBe(true)
  })

  test('is lost with the server, leaves nothing running, and is resumed once in the same conversation', async () => {
    const { fleet, repo, project, gate } = await scene()
    const held = gate('turn')
    const script = prompt({ write: 'one.txt', content: '1\n' }, { run: held.wait }, { say: 'Survived.' })
    const { id } = await fleet.mission(project, script, { max_retries: 0 })
    await eventually('the agent is at its tool', () => held.reached())
    const before = await fleet.show(id)

    await fleet.kill()
    await fleet.start()
    await eventually('it is resumed', async () => (await fleet.show(id)).sessions[1])
    expect(fleet.processes(before.session_id!)).toEqual([])
    held.open()
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({
      status: 'done',
      result: 'landed',
      failures: 0,
    })
    expect(mission.sessions).toMatchObject([{ outcome: 'lost' }, { outcome: 'completed', reason: 'resume' }])
    expect(mission.sessions[1]!.conversation).toBe(mission.sessions[0]!.conversation)
    expect(await repo.filesOn('main')).toContain('one.txt')
    expect((await fleet.events()).map(({ kind }) => kind)).not.toContain('adopted')
  })

  test('a server that is stopped takes it along, however often, and the next one goes on with it', async () => {
    const { fleet, project, gate } = await scene()
    const held = gate('turn')
    const { id } = await fleet.mission(project, prompt({ run: held.wait }, { write: 'a.txt', content: 'a\n' }))
    for (let session = 0; session < 4; session++) {
      await eventually('it works', async () => (await fleet.show(id)).sessions[session]?.status === 'running')
      await fleet.stop()
      expect(fleet.processes((await fleet.show(id)).sessions[session]!.id)).toEqual([])
      await fleet.start()
    }
    expect(await fleet.show(id)).toMatchObject({ interruptions: 0 })
    await fleet.call('cancel_mission', { mission_id: id })
    await fleet.until(id, 'cancelled')
  })

  test('429 to the end is a rate limit', async () => {
    const { fleet, project } = await scene()
    const { id } = await fleet.mission(project, prompt({ fail: 429 }))
    await eventually('it is held back', async () => (await fleet.show(id)).sessions[0]?.outcome === 'rate_limited')
    await fleet.call('cancel_mission', { mission_id: id })
  })

  test('without the SDK it is refused, and told how to get it; the command line still works', async () => {
    const { fleet, project } = await scene({ FLEET_CLAUDE_SDK: '/nowhere', FLEET_CLAUDE_ENGINE: 'cli' })
    const { id } = await fleet.mission(project, prompt({ say: 'x' }), { engine: 'sdk' })
    const refused = await fleet.until(id, 'failed', 'done')
    expect(refused.status_reason).toMatchObject({
      code: 'dispatch_failed',
      text: expect.stringContaining('npm install -g @anthropic-ai/claude-agent-sdk'),
    })
    const message = steps({ write: 'a.txt', content: 'a\n' })
    await fleet.call('retry_mission', { mission_id: id, engine: 'cli', message })
    expect(await fleet.until(id, 'failed', 'done')).toMatchObject({ status: 'done', sessions: [{ engine: 'cli' }] })
    const other = await fleet.mission(project, 'true', { agent: 'shell', engine: 'sdk' })
    expect((await fleet.until(other.id, 'failed')).status_reason?.text).toContain('cannot be driven through an SDK')
  })
})
