import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, NODE, ROOT } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

interface Flow {
  id: string
  status: string
  stages: { name: string; status: string; settled: string | null; mission_id: string; summary: string }[]
}
interface SpecView {
  name: string
  status: string | null
  comments: { name: string; text: string }[]
  criteria: { done: number; all: number }
}

/** What the agent of a test leaves out. */
type Mood = Partial<Record<'silent' | 'stubborn' | 'lenient' | 'forgetful', true>>

async function aBridge(mood: Mood = {}, files: Record<string, string> = { 'README.md': '# A river\n' }) {
  const scene = await aScene({ repository: { files }, project: { landing: 'auto' }, start: true })
  const { fleet, project, repo } = scene
  const [moodFile, journal] = [join(fleet.root, 'mood.json'), join(fleet.root, 'journal')]
  writeFileSync(moodFile, JSON.stringify(mood))
  writeFileSync(journal, '')
  const agent = {
    name: 'mason',
    kind: 'custom',
    command: [NODE, join(ROOT, 'test/kit/spec-agent.mjs'), '{prompt_file}', moodFile, journal],
    arguments: { presets: { full: [], review: [], explore: [] } },
  }
  writeFileSync(join(fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [agent] }))
  const { id: project_id } = project
  const show = (id: string) => fleet.call<Flow>('get_workflow', { workflow_id: id })
  const start = (flow: string, more: object = {}) =>
    fleet.call<Flow>('start_spec_flow', {
      project_id,
      flow,
      agents: Array(flow === 'execute' ? 3 : flow === 'interview' ? 1 : 2).fill('mason'),
      ...more,
    })
  const over = async ({ id }: Flow): Promise<Flow> => {
    await eventually(
      'the flow is over',
      async () => ['done', 'failed'].includes((await show(id)).status),
      async () => JSON.stringify(await show(id), null, 1),
    )
    return show(id)
  }
  return {
    ...scene,
    start,
    over,
    show,
    project_id,
    specs: async () => (await fleet.call<{ specs: SpecView[] }>('list_specs', { project_id })).specs,
    approve: (spec: string) => fleet.call<{ id: string }>('approve_spec', { project_id, spec }),
    /** Answers the question that a stage asks, once it is there. */
    answer: async ({ id }: Flow, stage: string, text: string) => {
      const find = async () => (await show(id)).stages.find(({ name }) => name === stage)!
      await eventually(`${stage} asks`, async () => (await find()).status === 'needs_input')
      await fleet.call('answer_question', { question_id: (await find()).mission_id, text })
    },
    ran: () => readFileSync(journal, 'utf8').trim().split('\n'),
    treeOf: (branch = 'main') => repo.git('ls-tree', '-r', '--name-only', branch),
  }
}

const settled = ({ stages }: Flow): Record<string, string | null> =>
  Object.fromEntries(stages.map(each => [each.name, each.settled]))

test('from a wish to a built specification: asked, drafted, reviewed, remarked, approved, tested, built, ticked', async () => {
  const b = await aBridge()
  const created = await b.start('create', { task: 'Build a bridge\n\nover the river' })
  await eventually('it asks', async () => (await b.show(created.id)).stages[0]!.status === 'needs_input')
  // Nothing is written before the answer, on any branch.
  expect(await b.repo.git('log', '--all', '--format=%H', '--', 'design-docs')).toBe('')
  expect(b.ran()).toEqual(['Read this task'])
  await b.answer(created, 'clarify', 'Red, and twenty.')
  const first = await b.over(created)
  expect(first.status).toBe('done')
  // The first draft had no criteria, so its review asked for another. The third round was not needed.
  expect(settled(first)).toMatchObject({
    draft: 'completed',
    'draft 2': 'completed',
    'review 2': 'completed',
    'draft 3': 'skipped',
    'review 3': 'skipped',
  })
  const [spec] = await b.specs()
  expect(spec).toMatchObject({ name: '0001-build-a-bridge', status: 'Draft', criteria: { done: 0, all: 1 } })
  const path = 'design-docs/0001-build-a-bridge/README.md'
  expect(await b.repo.readOn('main', path)).toContain('Answer: Red, and twenty.')

  // A draft is not built.
  await expect(b.start('execute', { spec: '1' })).rejects.toThrow(/is Draft; only an approved one is built/)
  await expect(b.start('execute')).rejects.toThrow(/No specification is approved/)

  // An interview turns answers into comments.
  const interview = await b.start('interview', { spec: 'bridge' })
  await b.answer(interview, 'ask', 'Only carts with one horse.')
  expect((await b.over(interview)).status).toBe('done')
  expect((await b.specs())[0]!.comments).toMatchObject([{ name: 'person', text: 'Only carts with one horse.' }])
  await expect(b.approve('1')).rejects.toThrow(/has a comment that is not worked off \(line \d+: person\)/)

  expect((await b.over(await b.start('revise', { spec: '1' }))).status).toBe('done')
  expect((await b.specs())[0]).toMatchObject({ status: 'Draft', comments: [] })
  expect(await b.repo.readOn('main', path)).toContain('Decided: Only carts with one horse.')

  const { id: approval } = await b.approve('0001')
  await b.fleet.until(approval, 'done')
  expect((await b.specs())[0]!.status).toBe('Approved')

  const built = await b.over(await b.start('execute'))
  expect(built.status).toBe('done')
  // Straw did not hold, so it was built again.
  expect(settled(built)).toMatchObject({
    tests: 'completed',
    'tests 2': 'skipped',
    build: 'completed',
    'build 2': 'completed',
    'verify 2': 'completed',
    'verify 3': 'skipped',
  })
  expect(b.ran().slice(-7)).toEqual([
    ...['Write the tests', 'Review the new tests', 'Make the tests for', 'Check what was built'],
    ...['Make the tests for', 'Check what was built', 'Tick each criterion'],
  ])
  expect((await b.specs())[0]).toMatchObject({ status: 'Implemented', criteria: { done: 1, all: 1 } })
  expect(await b.repo.readOn('main', 'bridge.txt')).toBe('stone')
  expect((await b.treeOf()).split('\n').sort()).toEqual(['README.md', 'bridge.test.sh', 'bridge.txt', path])
  // One commit for each flow that landed, and one for the approval.
  const subjects = (await b.repo.git('log', '--reverse', '--format=%s', 'main')).split('\n')
  expect(subjects.slice(1)).toEqual([
    'create 0001-build-a-bridge: close',
    'interview 0001-build-a-bridge: close',
    'revise 0001-build-a-bridge: close',
    'Approve the specification 0001-build-a-bridge',
    'execute 0001-build-a-bridge: close',
  ])
}, 240_000)

test('whoever asks nothing writes nothing', async () => {
  const b = await aBridge({ silent: true })
  const flow = await b.over(await b.start('create', { task: 'Build a bridge' }))
  expect(flow.status).toBe('failed')
  expect(settled(flow)).toMatchObject({ clarify: 'failed', draft: null })
  expect(b.ran()).toEqual(['Read this task'])
  expect(await b.treeOf()).toBe('README.md')
}, 240_000)

const DRAFT = '# A bridge\n\nStatus: Draft\n\nCOMMENT(ada): Which river?\n\n## Criteria\n\n- [ ] There is a bridge.\n'
const doc = 'design-docs/0007-bridge/README.md'

test('what the last review does not approve does not land', async () => {
  const b = await aBridge({ stubborn: true })
  const flow = await b.start('create', { task: 'Build a bridge' })
  await b.answer(flow, 'clarify', 'Red.')
  const end = await b.over(flow)
  expect(end.status).toBe('failed')
  expect(settled(end)).toMatchObject({ 'draft 3': 'completed', 'review 3': 'completed', close: 'failed' })
  expect(await b.treeOf()).toBe('README.md')
}, 240_000)

test('what is not ticked does not land, whatever a review says', async () => {
  const approved = DRAFT.replace('Draft', 'Approved').replace(/COMMENT.*\n/, '')
  const b = await aBridge({ forgetful: true }, { 'README.md': '# A river\n', [doc]: approved })
  const end = await b.over(await b.start('execute'))
  expect(end.status).toBe('failed')
  expect(settled(end)).toMatchObject({ tick: 'completed', close: 'failed' })
  expect((await b.treeOf()).split('\n')).toEqual(['README.md', doc])
}, 240_000)

test('an approval is of the words that were read', async () => {
  const b = await aBridge({}, { 'README.md': '# A river\n', [doc]: DRAFT.replace(/COMMENT.*\n/, '') })
  await b.fleet.call('pause', { project_id: b.project_id })
  const { id } = await b.approve('7')
  await b.repo.commit('Another thought', { [doc]: DRAFT.replace(/COMMENT.*\n/, 'It is a ferry.\n') })
  await b.fleet.call('unpause', { project_id: b.project_id })
  const { status } = await b.fleet.until(id, 'failed', 'done', 'needs_input')
  expect(status).toBe('failed')
  expect((await b.specs())[0]!.status).toBe('Draft')
}, 240_000)
