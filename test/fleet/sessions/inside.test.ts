import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addNote, noteFile } from '../../../src/fleet/missions/notes.ts'
import { askHuman } from '../../../src/fleet/questions/ask-human.ts'
import { INSIDE, OPERATIONS } from '../../../src/operations/index.ts'
import { eventually, readJson } from '../../kit/fleet.ts'
import { anAgentAtWork, call, report, twice } from '../../kit/inside.ts'
import { aScene } from '../../kit/scene.ts'

test('a report is kept at once, the last one stands, and it survives a landing that fails', async () => {
  const { fleet, project } = await aScene({ project: { checks: [{ name: 'never', command: 'false' }] } })
  const script = [
    'echo a > a.txt',
    call('submit_report', report('the first')),
    `echo '{"summary": "from the file"}' > "$FLEET_RESULT_FILE"`,
    call('submit_report', report('one\ntwo', { summary: 'The second.', files_changed: ['a.txt', 'b.txt'] })),
  ].join('\n')
  const { id } = await fleet.mission(project, script)
  const { report: kept } = await fleet.until(id, 'needs_input', 'failed', 'review', 'done')
  expect(kept).toMatchObject({
    ...{ source: 'agent', summary: 'The second.', what_done: ['one', 'two'], what_tested: ['ran it'] },
    ...{ files_changed: [{ path: 'a.txt' }], files_claimed: ['a.txt', 'b.txt'] },
  })
})

test('a report that was accepted survives kill -9 in the same moment; what is not a report is refused', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const agent = await anAgentAtWork(scene)
  expect((await agent.ask('submit_report', { what_done: 'x' })).status).toBe(400)
  expect((await agent.ask('submit_report', report('x', { preview_url: 'javascript:alert(1)' }))).status).toBe(400)
  expect((await agent.ask('submit_report', report('kept'))).status).toBe(200)
  await fleet.kill()
  agent.open()
  await fleet.start()
  expect((await fleet.until(agent.id, 'done', 'failed')).report).toMatchObject({ summary: 'kept' })
  expect((await agent.ask('get_mission_context')).status).toBe(401)
})

test('a person is asked: answered in time, or later with the agent put aside', async () => {
  const { fleet, project } = await aScene()
  const [first, second, told] = ['first', 'second', 'told'].map(name => join(fleet.root, name))
  const script = twice(
    [
      call('ask_human', { question: 'Which colour?' }, first),
      call('ask_human', { question: 'Which size?', wait_seconds: 1 }, second),
      'echo 1 > 1',
    ],
    [`cp "$FLEET_PROMPT_FILE" ${told}`, 'echo done > done.txt'],
  )
  const { id } = await fleet.mission(project, script)
  await fleet.until(id, 'needs_input')
  const asked = async (words: string) =>
    eventually(words, async () => {
      const { questions } = await fleet.call<{ questions: { id: string; text: string }[] }>('list_inbox')
      return questions.find(({ text }) => text === words)
    })
  await fleet.call('answer_question', { question_id: (await asked('Which colour?')).id, text: 'blue' })
  await eventually('the answer', () => existsSync(first!) && readFileSync(first!, 'utf8').includes('blue'))
  const { id: late } = await asked('Which size?')
  await eventually(
    'it is put aside',
    async () => (await fleet.show(id)).sessions[0]!.outcome === 'parked',
    undefined,
    30_000,
  )
  expect(readJson(second!)).toMatchObject({ status: 'pending', message: expect.stringContaining('end your turn') })
  await fleet.call('answer_question', { question_id: late, text: 'large' })
  await fleet.until(id, 'done', 'failed')
  expect(readFileSync(told!, 'utf8')).toMatch(/You asked: Which size\?[\s\S]*large/)
})

test('an agent whose session has ended asks nothing any more, however late it is heard', async () => {
  const scene = await aScene()
  const agent = await anAgentAtWork(scene)
  agent.open()
  await scene.fleet.until(agent.id, 'done')
  const late = askHuman(scene.fleet.fleet, agent.session, 'Now?', { seconds: 0, signal: AbortSignal.timeout(5000) })
  await expect(late).rejects.toThrow('has ended')
  expect(await scene.fleet.show(agent.id)).toMatchObject({ status: 'done' })
})

test('notes are carried to the next session', async () => {
  const { fleet, project } = await aScene()
  const told = join(fleet.root, 'told')
  const script = twice(
    [call('note', { text: 'The door is red.' }), call('note', { text: '1. Paint it.', kind: 'plan' }), 'exit 1'],
    [`cp "$FLEET_PROMPT_FILE" ${told}`, 'echo x > x'],
  )
  const { id } = await fleet.mission(project, script, { max_retries: 1 })
  await fleet.until(id, 'done', 'failed')
  const prompt = readFileSync(told, 'utf8')
  expect(prompt).toContain('The door is red.')
  expect(prompt).toMatch(/plan \(.*PLAN\.md\)\n\n1\. Paint it\./)
})

test('notes too long to be read are refused, and so nothing noted before is lost', async () => {
  const scene = await aScene()
  const agent = await anAgentAtWork(scene)
  const file = noteFile(scene.fleet.fleet, agent.id, 'plan')
  await agent.ask('note', { text: 'First.', kind: 'plan' })
  appendFileSync(file, 'x'.repeat(4 * 1024 * 1024 - 100))
  expect((await agent.ask('note', { text: 'y'.repeat(200), kind: 'plan' })).json.error.message).toContain('is full')
  expect(await agent.ask('note', { text: 'Last.', kind: 'plan' })).toMatchObject({ status: 200 })
  expect((await agent.ask('get_mission_context')).json).toMatchObject({
    notes: { plan: expect.stringMatching(/^….*Last\.\n\n$/s) },
  })
})

test('a note that is sent again is written once', async () => {
  const scene = await aScene()
  const agent = await anAgentAtWork(scene)
  const noted = () => readFileSync(noteFile(scene.fleet.fleet, agent.id, 'knowledge'), 'utf8')
  const key = (name: string) => ({ 'idempotency-key': name })
  const send = (text: string, headers = {}) => agent.ask('note', { text }, headers)

  const answers = await Promise.all([1, 2, 3].map(() => send('Tests pass.', key('one'))))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  await send('Tests fail.', key('two'))
  await send('Tests pass.', key('one'))
  expect(noted()).toBe('Tests pass.\n\nTests fail.\n\n')

  // The same words count as new after others.
  await send('Tests pass.', key('three'))
  expect(noted()).toBe('Tests pass.\n\nTests fail.\n\nTests pass.\n\n')

  // A client that calls again has no key.
  await send('The door is red.')
  await send('The door is red.')
  expect(noted()).toMatch(/Tests pass\.\n\nThe door is red\.\n\n$/)
  await send('red.')
  expect(noted()).toMatch(/The door is red\.\n\nred\.\n\n$/)

  expect(await send('Something else.', key('one'))).toMatchObject({ status: 409 })
})

test('a note whose server was killed before or after writing it is written once', async () => {
  const scene = await aScene()
  const agent = await anAgentAtWork(scene)
  const { fleet } = scene.fleet
  const ask = { operation: 'note', actor: `session:${agent.session}`, key: 'one', input: 'x' }
  const file = noteFile(fleet, agent.id, 'plan')
  await addNote(fleet, agent.id, 'plan', 'First.', ask)
  await addNote(fleet, agent.id, 'plan', 'Second.', { ...ask, key: undefined })
  await addNote(fleet, agent.id, 'plan', 'First.', ask)
  expect(readFileSync(file, 'utf8')).toBe('First.\n\nSecond.\n\n')
  // As if the server was killed between the receipt and the file: the file is unchanged.
  writeFileSync(file, '')
  await addNote(fleet, agent.id, 'plan', 'First.', ask)
  expect(readFileSync(file, 'utf8')).toBe('First.\n\n')
})

test("a session's token reads and writes for itself only", async () => {
  const scene = await aScene()
  const { fleet, repository } = scene
  const mine = await anAgentAtWork(scene)
  const sibling = await anAgentAtWork(scene)
  const elsewhere = { ...scene, project: await fleet.project((await repository()).path, { name: 'elsewhere' }) }
  const foreign = await anAgentAtWork(elsewhere)
  const comment = { body: 'x' }
  const secret = 'a title nobody else may see'
  await fleet.call('update_mission', { mission_id: foreign.id, title: secret })

  for (const other of [sibling, foreign]) {
    const project_id = elsewhere.project.id
    const ids = {
      mission_id: other.id,
      session_id: other.session,
      project_id,
      report_id: other.id,
      first: other.id,
      second: other.id,
    }
    for (const operation of OPERATIONS.filter(each => each.kind !== 'stream' && !INSIDE.includes(each as never))) {
      const fields = Object.keys(operation.input.shape).filter(field => field in ids)
      const input = Object.fromEntries([
        ...fields.map(field => [field, ids[field as keyof typeof ids]]),
        ...Object.entries(comment),
      ])
      const { status, json } = await mine.ask(operation.name, input)
      const open = status === 200 && fields.length === 0
      expect(open ? JSON.stringify(json) : '', operation.name).not.toContain(secret)
      if (!open) expect([400, 403, 404], `${operation.name}: ${JSON.stringify(json)}`).toContain(status)
    }
  }
  for (const { name, input } of INSIDE) {
    if (!('mission_id' in input.shape)) continue
    expect((await mine.ask(name, { mission_id: foreign.id })).status, name).toBe(404)
    expect((await mine.ask(name, { mission_id: sibling.id })).status, name).toBe(200)
  }
  for (const name of ['get_project_context', 'get_team_context', 'list_project_missions'])
    expect(JSON.stringify((await mine.ask(name)).json), name).not.toContain(secret)
  const owner = await fleet.http('/api/agent/mission')
  expect(owner.status).toBe(403)
  const before = (await fleet.show(foreign.id)).comments
  expect(before).toEqual([])
})

test('an agent finds fleet on its PATH although nobody installed it, and runs it as itself', async () => {
  const { fleet, project } = await aScene({ start: false })
  await fleet.start({ env: { PATH: '/usr/local/bin:/usr/bin:/bin' } })
  const { id } = await fleet.mission(project, 'fleet --version > version.txt && fleet call get_mission_context')
  const { status, status_reason } = await fleet.until(id, 'done', 'failed')
  expect(status, JSON.stringify(status_reason)).toBe('done')
})

test('a script that is started again with an answer is not asked to wait for it again', async () => {
  const { fleet, project } = await aScene()
  const said = (name: string) => join(fleet.root, name)
  const asks = (question: string, to: string) => [
    call('ask_human', { question, wait_seconds: 0 }, said(to)),
    `grep -q '"answered"' '${said(to)}' || exit 0`,
  ]
  const script = [
    ...asks('Which colour?', 'colour'),
    ...asks('Which size?', 'size'),
    `cat '${said('colour')}' '${said('size')}' > told.txt`,
  ].join('\n')
  const { id } = await fleet.mission(project, script)
  for (const [question, text] of [
    ['Which colour?', 'Blue'],
    ['Which size?', 'Large'],
  ]) {
    const open = await eventually('a question', async () => {
      const { questions } = await fleet.call<{ questions: { id: string; text: string }[] }>('list_inbox')
      return (await fleet.show(id)).sessions.at(-1)?.outcome === 'parked' ? questions[0] : undefined
    })
    expect(open.text).toBe(question)
    await fleet.call('answer_question', { question_id: open.id, text })
  }
  const over = await fleet.until(id, 'done', 'failed', 'needs_input')
  expect(over, JSON.stringify(over.status_reason)).toMatchObject({ status: 'done' })
  expect(over.sessions).toHaveLength(3)
  expect(readFileSync(said('colour'), 'utf8')).toContain('Blue')
  expect(readFileSync(said('size'), 'utf8')).toContain('Large')
})
