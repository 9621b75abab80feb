import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codexSettings } from './agents/codex-place.ts'
import { binaryOf, HOW_TO_INSTALL } from './clients/clients.ts'
import { eventually } from './kit/fleet.ts'
import { aScene, type Scene } from './kit/scene.ts'
import { type Model, type Step, startModel, steps } from './model/index.ts'

const binary = binaryOf('codex')
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** The real client as a mission's agent: through the runner, its files, its fifo and a real server. */
describe.skipIf(!binary)('a mission for the real Codex client', () => {
  let model: Model
  let home: string
  beforeAll(async () => {
    model = await startModel()
    home = mkdtempSync(join(tmpdir(), 'flotilla-codex-'))
    writeFileSync(join(home, 'config.toml'), codexSettings(model.url))
  })
  afterAll(async () => {
    await model.close()
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  })

  const scene = (): Promise<Scene> =>
    aScene({
      project: { agent: 'codex' },
      env: { PATH: `${dirname(binary!)}:${process.env.PATH}`, CODEX_HOME: home, OPENAI_API_KEY: 'test-key' },
    })
  const prompt = (...script: Step[]): string => `Do it.\n${steps(...script)}`

  test('edits, reports and lands', async () => {
    const { fleet, repo, project } = await scene()
    const script = prompt({ write: 'made.txt', content: 'by codex\n' }, { say: 'I made made.txt.' })
    const { id } = await fleet.mission(project, script)
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')

    const report = { summary: 'I made made.txt.', files_changed: [{ path: 'made.txt', change: 'added' }] }
    expect(mission).toMatchObject({ status: 'done', result: 'landed', report })
    expect(await repo.readOn('main', 'made.txt')).toBe('by codex')
    const usage = { turns: 2, input_tokens: 200, output_tokens: 40 }
    expect(mission.sessions[0]).toMatchObject({ outcome: 'completed', exit_code: 0, usage })
    expect(await repo.git('status', '--porcelain')).toBe('')
  })

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
    expect(await repo.readOn('main', 'after.txt')).toBe('after')
    const stream = await (await fleet.http(`/api/sessions/${mission.sessions[0]!.id}/stream`)).text()
    const kinds = [...stream.matchAll(/^event: (\w+)$/gm)].map(match => match[1])
    expect(kinds.filter(kind => kind === 'tool_call')).toHaveLength(2)
    expect(kinds.filter(kind => kind === 'tool_result')).toHaveLength(2)
    expect(kinds.at(-1)).toBe('end')
  })

  test('is resumed in the same conversation', async () => {
    const { fleet, repo, project } = await scene()
    const { id } = await fleet.mission(project, prompt({ fail: 500 }), { max_retries: 0 })
    const failed = await fleet.until(id, 'failed')
    const message = steps({ write: 'later.txt', content: 'later\n' }, { say: 'Done now.' })
    await fleet.call('resume_mission', { mission_id: id, message })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done).toMatchObject({ status: 'done', result: 'landed' })
    expect(done.sessions[0]!.conversation).toBeTruthy()
    expect(done.sessions.at(-1)!.conversation).toBe(failed.sessions.at(-1)!.conversation)
    expect(await repo.filesOn('main')).toContain('later.txt')
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

  test('under review it reads and reports, and changes nothing', async () => {
    const { fleet, repo, project } = await scene()
    const script = prompt({ run: 'git log --oneline' }, { run: 'touch made.txt' }, { say: 'It is fine.' })
    const { id } = await fleet.mission(project, script, { tool_preset: 'review', mission_type: 'review' })
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(mission).toMatchObject({ status: 'done', result: 'no_changes' })
    expect(existsSync(join(repo.path, 'made.txt'))).toBe(false)
  })
})
