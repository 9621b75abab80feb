import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { identityOf } from '../../src/runner/processes.ts'
import type { StoreSettings } from '../../src/store/index.ts'
import { aSchema, SHARED } from '../../src/store/postgres/schema.testkit.ts'
import { eventually, scaled } from '../kit/fleet.ts'
import { call, report, surely, twice } from '../kit/inside.ts'
import { aStage, type Stage } from '../kit/stage.ts'

/**
 * The first seed depends on the day of the month, so that many seeds are played over time. The long tests play eight.
 * FLEET_TEST_SEEDS=20 plays twenty. The title of a test has its seed: FLEET_TEST_SEED=7 plays that one again.
 */
const FIRST = Number(process.env.FLEET_TEST_SEED ?? new Date().getUTCDate())
const COUNT = Number(process.env.FLEET_TEST_SEEDS ?? scaled(1, 8))
const SEEDS = Array.from({ length: COUNT }, (_, n) => FIRST + 31 * n)
const ENGINES: [string, () => StoreSettings][] = SEEDS.flatMap(seed => [
  [`hostile memory ${seed}`, () => ({ engine: 'memory', hostile: { seed } })],
  [`silent memory ${seed}`, () => ({ engine: 'memory', hostile: { seed, silent: true } })],
])
if (SHARED) ENGINES.push(['postgresql', aSchema])
const STAND_IN = { PATH: `${join(import.meta.dirname, '../fixtures/hands')}:${process.env.PATH}` }
/** An agent that takes messages, like the Claude client. */
const SPOKEN_TO = { agent: 'claude' }

const sessionsOf = async ({ fleet }: Stage, id: string) =>
  (await fleet.store.find('sessions', { index: 'mission', equals: [id], limit: 20 })).items.map(({ value }) => value)

describe.each(ENGINES)('on %s', (_name, settingsFor) => {
  test('a mission hands on two parts, waits for both and goes on with what they did', async () => {
    const s = await aStage(settingsFor(), { FLEET_MAX_CONCURRENT: '1' })
    const told = join(s.root, 'told')
    const part = (name: string) => ({
      ...{ title: name, agent: 'shell' },
      detailed_prompt: `echo ${name} > ${name}.txt\n${surely('submit_report', report(`made ${name}`))}`,
    })
    const script = twice(
      [
        surely('create_sub_mission', part('one')),
        surely('create_sub_mission', part('two')),
        surely('wait_for_sub_missions'),
      ],
      [`cp "$FLEET_PROMPT_FILE" ${told}`, 'echo all > all.txt'],
    )
    const id = await s.mission(script)
    const mission = await s.until(id, 'done', 'failed', 'needs_input')
    expect(mission).toMatchObject({ status: 'done', result: 'landed', sessions: 2, spawned: 2 })
    expect(await s.repo.filesOn('main')).toEqual(expect.arrayContaining(['one.txt', 'two.txt', 'all.txt']))
    expect(readFileSync(told, 'utf8')).toMatch(/### one \(\w+\): done, landed\n\nmade one/)
    expect(s.faults).toEqual([])
  })

  test('two questions are answered while the agent waits elsewhere, and it goes on with both answers', async () => {
    const s = await aStage(settingsFor())
    const told = join(s.root, 'told')
    // An answer that comes at once is heard by the call itself.
    const asks = (question: string) => `${call('ask_human', { question, wait_seconds: 0 })} >> ${told}`
    const id = await s.mission(
      twice([asks('Which colour?'), asks('Which size?')], [`cat "$FLEET_PROMPT_FILE" >> ${told}`, 'echo x > x.txt']),
    )
    const inbox = await eventually('both questions', async () => {
      const { questions } = await s.call<{ questions: { id: string; text: string }[] }>('list_inbox')
      return questions.length === 2 ? questions : undefined
    })
    for (const { id: question_id, text } of inbox)
      await s.call('answer_question', { question_id, text: text.includes('colour') ? 'Blue' : 'Large' })
    expect(await s.until(id, 'done', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
    for (const answer of ['Blue', 'Large']) expect(readFileSync(told, 'utf8')).toContain(answer)
    expect(s.faults).toEqual([])
  })

  test('the stages of a workflow follow each other, and each reads what the one before did', async () => {
    const s = await aStage(settingsFor())
    const stage = (name: string, prompt: string, ...depends_on: string[]) => ({
      name,
      prompt,
      depends_on,
      agent: 'shell',
    })
    const { id } = await s.call('create_workflow', {
      ...{ name: 'flow', project_id: s.project.id, task_prompt: 'the task' },
      stages: [
        stage('write', 'echo "$FLEET_TASK_PROMPT" > text.txt'),
        stage('left', 'test -e text.txt && echo "too short"', 'write'),
        stage('right', 'echo right > right.txt', 'write'),
        stage('refine', 'echo "$FLEET_STAGE_LEFT_SUMMARY" >> text.txt', 'left', 'right'),
      ],
    })
    const status = async () => (await s.fleet.store.get('workflows', id))!.value.status
    await eventually(
      'the workflow is over',
      async () => !['making', 'running'].includes(await status()),
      async () => [await status(), ...s.faults].join('\n'),
    )
    expect(await status()).toBe('done')
    expect(await s.repo.readOn('main', 'text.txt')).toBe('the task\ntoo short')
    expect(await s.repo.readOn('main', 'right.txt')).toBe('right')
    expect(s.faults).toEqual([])
  })

  test('what is said to an agent is heard, also in its last moment', async () => {
    const s = await aStage(settingsFor(), STAND_IN)
    const held = s.gate('tool')
    const id = await s.mission(`write a.txt a\nwait ${held.file}`, SPOKEN_TO)
    await eventually('the tool runs', () => existsSync(`${held.file}.here`))
    await s.call('say_to_mission', { mission_id: id, text: 'write said.txt said' })
    held.open()
    // The agent may still get it, the next session may get it, or it is refused as too late. It is never lost.
    const last = await s.call('say_to_mission', { mission_id: id, text: 'write last.txt last' }).then(
      () => true,
      () => false,
    )
    await s.until(id, 'done', 'failed', 'needs_input')
    await eventually('it is settled', async () => {
      const sessions = await sessionsOf(s, id)
      return sessions.length > 0 && sessions.every(({ status }) => status === 'ended')
    })
    const mission = await s.until(id, 'done', 'failed', 'needs_input')
    expect(mission).toMatchObject({ status: 'done', result: 'landed' })
    expect(await s.repo.filesOn('main')).toEqual(['README.md', 'a.txt', ...(last ? ['last.txt'] : []), 'said.txt'])
    expect(s.faults).toEqual([])
  })

  test('a budget that is spent starts nothing more, and what is spent is counted once', async () => {
    const s = await aStage(settingsFor(), STAND_IN)
    await s.call('update_project', { project_id: s.project.id, daily_budget_usd: 1 })
    const first = await s.mission('write a.txt a\nspend 2', SPOKEN_TO)
    // It may be stopped for its budget, or end before that.
    await s.until(first, 'done', 'needs_input')
    const { spending } = await eventually('it is counted', async () => {
      const found = await s.call<{ spending: { cost_usd: number; sessions: number }[] }>('list_spending')
      return found.spending.length ? found : undefined
    })
    expect(spending).toMatchObject([{ sessions: 1, cost_usd: 2 }])
    const second = await s.mission('write b.txt b', SPOKEN_TO)
    await eventually('it waits for the budget', async () => {
      const { waits_for } = await s.call<{ waits_for: { kind: string }[] }>('get_mission', { mission_id: second })
      return waits_for.some(({ kind }) => kind === 'budget')
    })
    expect((await s.read(second)).sessions).toBe(0)
    await s.call('update_project', { project_id: s.project.id, daily_budget_usd: 10 })
    expect(await s.until(second, 'done', 'failed', 'needs_input')).toMatchObject({ status: 'done' })
    expect(s.faults).toEqual([])
  })

  test('a person takes a mission over and hands it back, and its agent goes on', async () => {
    const s = await aStage(settingsFor(), STAND_IN)
    const held = s.gate('never')
    const id = await s.mission(`write agent.txt agent\nthink ${held.file}`, SPOKEN_TO)
    await eventually('it thinks', () => existsSync(`${held.file}.here`))
    const terminal = identityOf(process.pid)
    await s.call('take_over_mission', { mission_id: id, terminal })
    await eventually('it is taken over', async () => {
      const { taken_over } = await s.read(id)
      const session = taken_over?.session_id && (await s.fleet.store.get('sessions', taken_over.session_id))
      return session && session.value.reason === 'takeover' && session.value.worktree !== null
    })
    held.open()
    await s.call('hand_back_mission', { mission_id: id, next: 'resume', terminal })
    const mission = await s.until(id, 'done', 'failed')
    expect(mission).toMatchObject({ status: 'done', result: 'landed', taken_over: null })
    expect(await s.repo.readOn('main', 'agent.txt')).toBe('agent')
    expect(s.faults).toEqual([])
  })

  test('agents go on without a daemon, the next one adopts them, and what was asked meanwhile is done and undone', async () => {
    const s = await aStage(settingsFor(), { FLEET_MAX_CONCURRENT: '2' })
    const held = s.gate('work')
    const working = await s.mission(`${held.wait}; echo held > held.txt`)
    await eventually('the agent at work', () => held.reached())
    await s.until(working, 'running')
    const asked: string[] = []
    await s.restart(async () => {
      asked.push(await s.mission('echo asked > asked.txt'))
      asked.push(await s.mission('cat asked.txt held.txt > both.txt', { depends_on: [asked[0]!, working] }))
      held.open()
    })
    expect(await s.until(working, 'done', 'failed', 'review')).toMatchObject({ status: 'done', sessions: 1 })
    for (const id of asked) expect(await s.until(id, 'done', 'failed', 'review')).toMatchObject({ sessions: 1 })
    expect(await s.repo.readOn('main', 'both.txt')).toBe('asked\nheld')
    await s.call('undo_mission', { mission_id: asked[1]! })
    expect(await s.until(asked[1]!, 'review')).toMatchObject({ status: 'review' })
    expect(await s.repo.filesOn('main')).toEqual(['README.md', 'asked.txt', 'held.txt'])
    const { events } = await s.fleet.store.events({ limit: 500 })
    const landings = events.filter(({ kind }) => kind === 'landed').map(({ mission_id }) => mission_id)
    expect(landings.toSorted()).toEqual([working, ...asked].toSorted())
    expect(s.faults).toEqual([])
  })
})
