import { describe, expect, test } from 'vitest'
import { HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually } from '../../kit/fleet.ts'
import { clientScenes, REAL_CLIENTS } from '../../kit/real-clients.ts'
import type { Step } from '../../model/index.ts'

const claude = REAL_CLIENTS.find(({ name }) => name === 'claude')!
if (!claude.binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

const PATH = 'design-docs/0001-build-a-bridge/README.md'
const document = (status: string) =>
  `# A bridge\n\nStatus: ${status}\n\nPeople cross the river on foot.\n\n## Criteria\n\n- [ ] There is a bridge.\n`
const PATIENCE_MS = 120_000

interface Flow {
  id: string
  status: string
  stages: { name: string; status: string; settled: string | null; mission_id: string }[]
}
interface SpecView {
  status: string
  comments: { name: string; text: string }[]
  criteria: { done: number; all: number }
}

const asks = (question: string): Step => ({ tool: claude.named('ask_human'), input: { question } })
const APPROVES: Step[] = [{ read: PATH }, { say: 'I read all of it.\n\nAPPROVED' }]

describe.skipIf(!claude.binary)('the real Claude client works on specifications', () => {
  const { model, sceneOf } = clientScenes()

  async function aRiver(files: Record<string, string>, stages: Record<string, Step[]>) {
    for (const [words, script] of Object.entries(stages)) model().atWords.set(words, script)
    const s = await sceneOf(claude, { repository: { files }, project: { landing: 'auto' } })
    const project_id = s.project.id
    const show = (id: string) => s.fleet.call<Flow>('get_workflow', { workflow_id: id })
    return {
      ...s,
      start: (flow: string, more: object = {}) => s.fleet.call<Flow>('start_spec_flow', { project_id, flow, ...more }),
      answer: async ({ id }: Flow, stage: string, text: string) => {
        const find = async () => (await show(id)).stages.find(({ name }) => name === stage)!
        await eventually(
          `${stage} asks`,
          async () => (await find()).status === 'needs_input',
          async () => JSON.stringify(await show(id)),
          PATIENCE_MS,
        )
        await s.fleet.call('answer_question', { question_id: (await find()).mission_id, text })
      },
      done: async ({ id }: Flow) => {
        await eventually(
          'the flow is over',
          async () => ['done', 'failed'].includes((await show(id)).status),
          async () => JSON.stringify(await show(id), null, 1),
          PATIENCE_MS,
        )
        const { status, stages } = await show(id)
        expect(status, JSON.stringify(stages, null, 1)).toBe('done')
        return Object.fromEntries(stages.map(each => [each.name, each.settled]))
      },
      spec: async () => (await s.fleet.call<{ specs: SpecView[] }>('list_specs', { project_id })).specs[0]!,
      document: () => s.repo.readOn('main', PATH),
    }
  }

  test('create: it asks a person, drafts what was answered, and reviews it', async () => {
    const s = await aRiver(
      { 'README.md': '# A river\n' },
      {
        'Read this task': [asks('1. May carts cross it? I would say no.'), { say: 'Carts: no.' }],
        'Write the design document': [{ write: PATH, content: document('Draft') }, { say: 'Drafted.' }],
        'Review the design document': APPROVES,
      },
    )
    const flow = await s.start('create', { task: 'Build a bridge' })
    await s.answer(flow, 'clarify', 'No carts.')
    expect(await s.done(flow)).toMatchObject({ clarify: 'completed', draft: 'completed', 'draft 2': 'skipped' })
    expect(await s.spec()).toMatchObject({ status: 'Draft', comments: [], criteria: { done: 0, all: 1 } })
    expect(model().requests.some(({ body }) => JSON.stringify(body ?? '').includes('No carts.'))).toBe(true)
  }, 300_000)

  test('interview: the answers of a person become comments', async () => {
    const note = `printf '\\nCOMMENT(person): Only on foot.\\n' >> ${PATH}`
    const s = await aRiver(
      { [PATH]: document('Draft') },
      {
        'Read design-docs': [asks('1. How wide is it? I would say one metre.'), { say: '1. How wide? Only on foot.' }],
        'Write these answers': [{ run: note }, { say: 'Noted.' }],
      },
    )
    const flow = await s.start('interview', { spec: '1' })
    await s.answer(flow, 'ask', 'Only on foot.')
    await s.done(flow)
    expect((await s.spec()).comments).toMatchObject([{ name: 'person', text: 'Only on foot.' }])
  }, 300_000)

  test('execute: tests first, then the work, checked, and each criterion ticked', async () => {
    const s = await aRiver(
      { [PATH]: document('Approved') },
      {
        'Write the tests': [{ write: 'bridge.test.sh', content: 'test -f bridge.txt\n' }, { say: 'Written.' }],
        'Review the new tests': APPROVES,
        'Make the tests for': [
          { write: 'bridge.txt', content: 'stone\n' },
          { run: `printf '\\n## Progress\\n\\n- Built of stone.\\n' >> ${PATH}` },
          { say: 'Built.' },
        ],
        'Check what was built': APPROVES,
        'Tick each criterion': [{ run: `sed -i 's/- \\[ \\]/- [x]/' ${PATH}` }, { say: 'Ticked.' }],
      },
    )
    const settled = await s.done(await s.start('execute'))
    expect(settled).toMatchObject({ tests: 'completed', build: 'completed', verify: 'completed', tick: 'completed' })
    expect(await s.spec()).toMatchObject({ status: 'Implemented', criteria: { done: 1, all: 1 } })
    expect(await s.document()).toContain('- Built of stone.')
    expect(await s.repo.readOn('main', 'bridge.txt')).toBe('stone')
    expect((await s.repo.git('log', '--format=%s', 'main')).split('\n')).toHaveLength(2)
  }, 300_000)
})
