import { expect, test } from 'vitest'
import { INSIDE } from '../../src/operations/index.ts'
import { type Step, steps } from '../model/index.ts'
import { eventually, type TestFleet } from './fleet.ts'
import { report } from './inside.ts'
import { prompt } from './mission-scenarios.ts'
import type { Scene } from './scene.ts'

type Result = { output: string; failed: boolean }

/** What the tools answered in a session, by the order of the calls. */
async function resultsOf(fleet: TestFleet, sessionId: string): Promise<Result[]> {
  const stream = await (await fleet.http(`/api/sessions/${sessionId}/stream`)).text()
  return [...stream.matchAll(/^event: tool_result\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Result)
}

/** What any real client must do with the tools of the fleet; `named` is what it calls one of them. */
export function insideScenarios(
  named: (tool: string) => string,
  scene: () => Promise<Scene>,
  settings: object = {},
): void {
  const use = (tool: string, input: Record<string, unknown> = {}): Step => ({ tool: named(tool), input })

  test('calls every tool of the fleet, is resumed with the reports of its sub-missions and with an answer', async () => {
    const { fleet, repo, project } = await scene()
    const earlier = await fleet.mission(project, 'echo earlier > earlier.txt', { agent: 'shell' })
    await fleet.until(earlier.id, 'done')
    const first: [string, Record<string, unknown>?][] = [
      ['get_mission_context'],
      ['get_project_context'],
      ['get_session_history'],
      ['get_team_context'],
      ['read_past_reports', { mission_id: earlier.id }],
      ['list_project_missions', { status: 'done' }],
      ['note', { text: 'The door is red.' }],
      ['create_sub_mission', { title: 'part', detailed_prompt: 'echo part > part.txt', agent: 'shell' }],
      ['request_review', { description: 'Look at it.', files_to_review: 'made.txt' }],
      ['get_sub_mission_status'],
      ['wait_for_sub_missions'],
    ]
    const script = [
      ...first.map(([tool, input]) => use(tool, input)),
      { say: 'I wait.' },
      use('ask_human', { question: 'Which colour?', wait_seconds: 0 }),
      { say: 'I have asked.' },
    ]
    const { id } = await fleet.mission(project, prompt(...script), settings)
    await fleet.until(id, 'needs_input', 'done', 'failed')
    const asking = await eventually('it is put aside', async () => {
      const mission = await fleet.show(id)
      return mission.sessions.every(({ status }) => status === 'ended') ? mission : undefined
    })

    expect(
      asking.sessions.map(({ outcome }) => outcome),
      JSON.stringify(asking.status_reason),
    ).toEqual(['parked', 'parked'])
    const answers = await resultsOf(fleet, asking.sessions[0]!.id)
    const called = [...first.map(([tool]) => tool), 'ask_human', 'submit_report']
    expect(answers.map(({ failed }, at) => [first[at]![0], failed])).toEqual(first.map(([tool]) => [tool, false]))
    expect(answers[0]!.output).toContain(id)
    expect(answers[4]!.output).toContain('earlier.txt')
    expect(answers[10]!.output).toContain('End your turn now')
    expect(asking.children.map(({ status }) => status)).toEqual(['done', 'done'])
    expect((await resultsOf(fleet, asking.sessions[1]!.id))[0]).toMatchObject({
      output: expect.stringContaining('end your turn, you will be resumed'),
    })

    const last = [use('submit_report', report('painted')), { write: 'door.txt', content: 'blue\n' }, { say: 'Done.' }]
    const { questions } = await fleet.call<{ questions: { id: string }[] }>('list_inbox')
    await fleet.call('answer_question', { question_id: questions[0]!.id, text: `Blue.\n${steps(...last)}` })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done, JSON.stringify(done.status_reason)).toMatchObject({
      ...{ status: 'done', result: 'landed' },
      report: { source: 'agent', summary: 'painted', next_steps: ['Rest.'] },
    })
    expect(new Set(done.sessions.map(({ conversation }) => conversation)).size).toBe(1)
    expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(['door.txt', 'part.txt']))
    expect(called.toSorted()).toEqual(INSIDE.map(({ name }) => name).toSorted())
  })

  test('its tools go on after kill -9 of the server, and a report for a server that is down is not lost', async () => {
    const { fleet, project, gate } = await scene()
    const [restart, kill, start] = ['restart', 'kill', 'start'].map(gate)
    const script = prompt(
      use('get_mission_context'),
      { run: restart!.wait },
      use('get_project_context'),
      { run: kill!.wait },
      use('submit_report', report('said to nobody')),
      { run: start!.wait },
      use('submit_report', report('said again')),
      { write: 'made.txt', content: 'x\n' },
      { say: 'Done.' },
    )
    const { id } = await fleet.mission(project, script, settings)
    await eventually('the first gate', () => restart!.reached())
    await fleet.kill()
    await fleet.start()
    restart!.open()
    await eventually('the second gate', () => kill!.reached())
    await fleet.kill()
    kill!.open()
    await eventually('the third gate', () => start!.reached(), undefined, 60_000)
    await fleet.start()
    start!.open()
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    const calls = await resultsOf(fleet, done.sessions[0]!.id)
    expect(
      [0, 2, 4, 6].map(at => calls[at]!.failed),
      JSON.stringify(calls),
    ).toEqual([false, false, true, false])
    expect(done).toMatchObject({ status: 'done', report: { source: 'agent', summary: 'said again' } })
    expect(done.sessions).toHaveLength(1)
  })
}
