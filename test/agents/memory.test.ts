import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { binaryOf, HOW_TO_INSTALL } from '../clients/clients.ts'
import { aScene } from '../kit/scene.ts'
import { type Model, startModel, steps } from '../model/index.ts'
import { codexSettings } from './codex-home.ts'

const NAMES = ['claude', 'codex'] as const
const installed = NAMES.every(binaryOf)
if (!installed) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

describe.skipIf(!installed)('the memory of a mission over two real clients', { timeout: 120_000 }, () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  test.each([
    ['claude', 'codex'],
    ['codex', 'claude'],
  ])('what %s wrote down is told to %s, which goes on from there', async (first, second) => {
    const env = {
      PATH: `${NAMES.map(name => dirname(binaryOf(name)!)).join(':')}:${process.env.PATH}`,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'test-key',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      OPENAI_API_KEY: 'test-key',
    }
    const { fleet, repo, project } = await aScene({ env, start: false })
    const codexHome = join(fleet.root, 'codex')
    mkdirSync(codexHome)
    writeFileSync(join(codexHome, 'config.toml'), codexSettings(model.url))
    await fleet.start({ env: { CODEX_HOME: codexHome } })

    // The scripted model follows the newest script it sees. The second client finds its own in the notes of the first.
    const rest = steps({ write: 'keel.txt', content: `by ${second}\n` }, { say: 'The keel is laid.' })
    const notes = [
      `printf '%s\\n' '${rest}' > "$FLEET_TASK_DIR/PLAN.md"`,
      `echo 'Oak from ${first} floats.' > "$FLEET_TASK_DIR/KNOWLEDGE.md"`,
      `echo drawing > "$FLEET_ARTIFACT_DIR/drawing-of-${first}.txt"`,
    ].join('; ')
    const { id } = await fleet.mission(project, `Build a ship.\n${steps({ run: notes }, { say: 'I only noted.' })}`, {
      agent: first,
      max_retries: 0,
    })
    expect(await fleet.until(id, 'failed', 'done')).toMatchObject({ status_reason: { code: 'nothing_done' } })

    const before = model.requests.length
    await fleet.call('update_mission', { mission_id: id, agent: second })
    await fleet.call('resume_mission', { mission_id: id })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done, JSON.stringify(done.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
    expect(done.sessions.map(({ agent }) => agent)).toEqual([first, second])
    expect(await repo.readOn('main', 'keel.txt')).toBe(`by ${second}`)
    const told = model.requests.slice(before).map(({ body }) => JSON.stringify(body ?? ''))
    for (const words of [`Oak from ${first} floats.`, `drawing-of-${first}.txt (8 bytes)`])
      expect(told.some(body => body.includes(words))).toBe(true)
  })
})
