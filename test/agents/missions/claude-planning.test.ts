import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LoopView } from '../../../src/operations/loops.ts'
import type { PlanView } from '../../../src/operations/plans.ts'
import { claudeBinary, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually } from '../../kit/fleet.ts'
import { prompt } from '../../kit/mission-scenarios.ts'
import { COMPLETE, planOf } from '../../kit/planner.ts'
import { aScene } from '../../kit/scene.ts'
import { type Model, startModel, steps } from '../../model/index.ts'

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

describe.skipIf(!binary)('the real Claude client plans', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  const scene = (project: object = {}) =>
    aScene({
      project: { agent: 'claude', ...project },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '1',
      },
    })
  const cycle = planOf({ key: 'a', script: 'true', after: ['b'] }, { key: 'b', script: 'true', after: ['a'] })

  test('it looks and cannot write, is told of its circle in the same conversation, and its missions land', async () => {
    const { fleet, repo, project } = await scene()
    const work = prompt({ write: 'house.txt', content: 'a house\n' }, { say: 'Built.' })
    const plan = planOf(
      { key: 'house', script: work, agent: 'claude' },
      { key: 'door', script: 'cat house.txt > door.txt', after: ['house'] },
    )
    const goal = `A house\n${steps(
      { read: 'README.md' },
      { write: 'sneaky.txt', content: 'x\n' },
      { say: `Here it is:\n\`\`\`json\n${cycle}\n\`\`\`` },
      { say: `You are right. ${plan} Shall I go on?` },
    )}`
    const asked = await fleet.call<PlanView>('plan_project', { prompt: goal, project_id: project.id, scripts: true })
    const proposal = await eventually('a proposal', async () => {
      const found = await fleet.call<PlanView>('get_plan', { plan_id: asked.id })
      return found.status === 'planning' ? undefined : found
    })
    expect(proposal, JSON.stringify(proposal.reason)).toMatchObject({
      status: 'proposed',
      steps: [['house'], ['door']],
    })
    const { sessions, result } = await fleet.show(proposal.mission_id)
    expect(sessions).toHaveLength(2)
    expect(sessions[1]!.conversation).toBe(sessions[0]!.conversation)
    expect(result).toBe('no_changes')

    const { missions } = await fleet.call<PlanView>('approve_plan', { plan_id: asked.id })
    await fleet.until(missions[1]!.mission_id!, 'done')
    expect(await repo.filesOn('main')).toEqual(['README.md', 'door.txt', 'house.txt'])
  })

  test('it drives a loop to its end', async () => {
    const { fleet, repo, project } = await scene({ checks: [{ name: 'there', command: 'test -e README.md' }] })
    // Each round is a new conversation. The report of the first round's mission contains the model's next script.
    const work = `echo house > house.txt; echo '${steps({ say: COMPLETE })}'`
    const goal = `A house\n${steps({ say: planOf({ key: 'house', script: work }) })}`
    await fleet.call('start_loop', { project_id: project.id, goal, max_rounds: 3, scripts: true })
    const loop = await eventually('the end', async () => {
      const found = await fleet.call<LoopView>('get_loop', { project_id: project.id })
      return found.ended_at ? found : undefined
    })
    expect(loop.rounds.map(round => round.outcome)).toEqual(['progress', 'complete'])
    expect(loop).toMatchObject({ status: 'complete', ending: { text: expect.stringContaining('I looked') } })
    expect(await repo.readOn('main', 'house.txt')).toBe('house')
  })
})
