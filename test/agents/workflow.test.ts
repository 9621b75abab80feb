import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { binaryOf, HOW_TO_INSTALL } from '../clients/clients.ts'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { type Model, startModel, steps } from '../model/index.ts'
import { codexSettings } from './codex-home.ts'
import { geminiHome } from './gemini-home.ts'

const NAMES = ['claude', 'codex', 'gemini'] as const
const installed = NAMES.every(binaryOf)
if (!installed) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

interface View {
  status: string
  stages: { status: string; settled: string | null }[]
}

describe.skipIf(!installed)('a workflow over three real clients', { timeout: 180_000 }, () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  test('one writes, one reviews without an edit, one refines with the review; only the end lands', async () => {
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
    await fleet.start({ env: { CODEX_HOME: codexHome, ...geminiHome(join(fleet.root, 'gemini'), model.url) } })
    const before = await repo.git('rev-parse', 'main')

    const { id } = await fleet.call<{ id: string }>('create_workflow', {
      project_id: project.id,
      name: 'three',
      task_prompt: 'Write a poem.',
      stages: [
        {
          name: 'write',
          agent: 'claude',
          prompt: `{task_prompt}\n${steps({ write: 'poem.txt', content: 'roses\n' }, { say: 'A first line.' })}`,
        },
        {
          name: 'review',
          agent: 'codex',
          tool_preset: 'review',
          depends_on: ['write'],
          prompt: `Review it.\n${steps({ run: 'cat poem.txt' }, { say: 'It lacks violets.' })}`,
        },
        {
          name: 'refine',
          agent: 'gemini',
          model: 'gemini-2.5-pro',
          depends_on: ['write', 'review'],
          prompt: `The review says: {stage_review_summary}\n${steps({ edit: 'poem.txt', from: 'roses', to: 'violets' }, { say: 'Refined.' })}`,
        },
      ],
    })
    const view = () => fleet.call<View>('get_workflow', { workflow_id: id })
    const over = await eventually(
      'the workflow is over',
      async () => {
        const tip = await repo.git('rev-parse', 'main')
        const now = await view()
        if (['draft', 'queued', 'running'].includes(now.stages[2]!.status)) expect(tip).toBe(before)
        return now.status === 'running' || now.status === 'making' ? undefined : now
      },
      async () => JSON.stringify(await view()),
      120_000,
    )
    expect(over.stages.map(stage => stage.settled)).toEqual(['completed', 'completed', 'completed'])
    expect(await repo.readOn('main', 'poem.txt')).toBe('violets')
    expect(await repo.git('rev-list', '--count', `${before}..main`)).toBe('1')
    const asked = model.requests.map(({ body }) => JSON.stringify(body ?? ''))
    expect(asked.some(body => body.includes('The review says: It lacks violets.'))).toBe(true)
  })
})
