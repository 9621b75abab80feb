import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { geminiHome } from './agents/gemini-home.ts'
import { binaryOf, HOW_TO_INSTALL } from './clients/clients.ts'
import { eventually } from './kit/fleet.ts'
import { aScene, type Scene } from './kit/scene.ts'
import { type Model, type Step, startModel, steps } from './model/index.ts'

const binary = binaryOf('gemini')
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** The real client as a mission's agent: through the runner, its files and a real server. */
describe.skipIf(!binary)('a mission for the real Gemini client', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  function scene(): Promise<Scene> {
    const home = mkdtempSync(join(tmpdir(), 'flotilla-gemini-'))
    onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
    return aScene({
      project: { agent: 'gemini', model: 'gemini-2.5-pro' },
      env: { PATH: `${dirname(binary!)}:${process.env.PATH}`, ...geminiHome(home, model.url) },
    })
  }
  const prompt = (...script: Step[]): string => `Do it.\n${steps(...script)}`

  test('goes on while the server is dead, is taken up, and lands with no gap in its transcript', async () => {
    const { fleet, repo, project, gate } = await scene()
    const held = gate('turn')
    const script = prompt({ run: held.wait }, { write: 'after.txt', content: 'after\n' }, { say: 'Survived.' })
    const { id } = await fleet.mission(project, script)
    await eventually('the agent is at its tool', () => held.reached())

    await fleet.kill()
    held.open()
    await fleet.start()
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')

    expect(mission).toMatchObject({ status: 'done', result: 'landed', report: { summary: 'Survived.' } })
    expect(mission.sessions).toHaveLength(1)
    expect(mission.sessions[0]).toMatchObject({ outcome: 'completed', usage: { turns: 3, input_tokens: 300 } })
    expect(await repo.readOn('main', 'after.txt')).toBe('after')
    expect(await repo.git('status', '--porcelain')).toBe('')
    const stream = await (await fleet.http(`/api/sessions/${mission.sessions[0]!.id}/stream`)).text()
    const kinds = [...stream.matchAll(/^event: (\w+)$/gm)].map(match => match[1])
    expect(kinds.filter(kind => kind === 'tool_call')).toHaveLength(2)
    expect(kinds.filter(kind => kind === 'tool_result')).toHaveLength(2)
    expect(kinds.at(-1)).toBe('end')
  })

  test('is stopped from outside at its limit of turns, and goes on in the same conversation with a larger one', async () => {
    const { fleet, repo, project, gate } = await scene()
    const held = gate('third')
    const script = prompt(
      { write: 'one.txt', content: '1\n' },
      { run: 'true' },
      { run: held.wait },
      { say: 'Never said.' },
    )
    const { id } = await fleet.mission(project, script, { max_turns: 2 })
    const limited = await fleet.until(id, 'needs_input', 'done', 'failed')
    expect(limited).toMatchObject({ status: 'needs_input', status_reason: { code: 'limit' } })
    expect(fleet.processes(limited.sessions[0]!.id)).toEqual([])
    expect(await repo.filesOn('main')).not.toContain('one.txt')

    const message = steps({ write: 'two.txt', content: '2\n' }, { say: 'Done now.' })
    await fleet.call('resume_mission', { mission_id: id, max_turns: 20, message })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done).toMatchObject({ status: 'done', result: 'landed' })
    expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(['one.txt', 'two.txt']))
    expect(done.sessions[1]!.conversation).toBe(done.sessions[0]!.conversation)
  })
})
