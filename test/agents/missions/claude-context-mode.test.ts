import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { binaryOf, claudeBinary, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { aScene } from '../../kit/scene.ts'
import { type Model, startModel, steps } from '../../model/index.ts'

const claude = claudeBinary()
const contextMode = binaryOf('context-mode')
const isReady = claude !== undefined && contextMode !== undefined
if (!isReady) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

describe.skipIf(!isReady)('context mode, with the real server and the real client', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  test('the agent gets its tools, and only what their code prints enters the conversation', async () => {
    const { fleet, project } = await aScene({
      project: { agent: 'claude' },
      env: {
        PATH: [dirname(process.execPath), dirname(claude!), dirname(contextMode!), process.env.PATH].join(':'),
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    })
    const count = { language: 'shell', code: 'seq 1 50000 >numbers.txt; wc -l <numbers.txt' }
    const prompt = steps(
      { tool: 'mcp__context-mode__ctx_execute', input: count },
      { write: 'count.txt', content: 'counted\n' },
      { say: 'Done.' },
    )

    const { id } = await fleet.mission(project, `Count.\n${prompt}`, { context_mode: true })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input', 'review')

    expect(done).toMatchObject({ status: 'done', result: 'landed' })
    const asked = JSON.stringify(model.requests.at(-1)!.body)
    expect(asked).toContain('mcp__context-mode__ctx_search')
    expect(asked).toMatch(/\b50000\b/)
    expect(asked).not.toContain('49998')
  })
})
