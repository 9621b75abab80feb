import { expect } from 'vitest'
import { type Step, steps } from '../model/index.ts'
import { endProcess, eventually } from './fleet.ts'
import { prompt } from './mission-scenarios.ts'
import type { Paid } from './money-clients.ts'
import type { Scene } from './scene.ts'

/** The ways a session can end, as a person or the world causes them. */
export const ENDINGS = [
  'ends',
  'cancelled',
  'timed out',
  'client killed',
  'handed over',
  'retried',
  'parked',
  'server killed',
] as const
export type Ending = (typeof ENDINGS)[number]

/** The slowest client needs most of it to start. */
const TIME_LIMIT_S = 25
const PATIENCE_MS = 90_000

const FIRST = { input: 3000, output: 50, cacheRead: 400, cacheWrite: 70 }
/** The usage of the answer whose tool is held. */
export const AT_TOOL = { input: 5000, output: 90, cacheRead: 1100 }
const SECOND = { input: 900, output: 60, cacheRead: 1700 }
const LAST: Step = { say: 'Done.', tokens: { input: 700, output: 30 } }

const OVER = ['done', 'failed', 'needs_input', 'review', 'cancelled']

/** Server settings that an ending needs. */
export const environmentOf = (ending: Ending): Record<string, string> =>
  ending === 'parked' ? { FLEET_PARK_AFTER: '1' } : {}

/** Runs a mission that ends in this way; returns its id. */
export async function endIn(ending: Ending, { fleet, project, gate }: Scene, paid: Paid): Promise<string> {
  const held = gate('tool')
  const working: Step[] = [{ write: 'a.txt', content: 'a\n', tokens: FIRST }, { run: held.wait, tokens: AT_TOOL }, LAST]
  const started = async (settings: object = {}, script = working): Promise<string> => {
    const { id } = await fleet.mission(project, prompt(...script), { landing: 'never', max_retries: 0, ...settings })
    return id
  }
  const atTool = () => eventually('the tool runs', () => held.reached(), undefined, PATIENCE_MS)
  const over = (id: string) =>
    eventually(
      'it is over',
      async () => {
        const { status, sessions } = await fleet.show(id)
        return OVER.includes(status) && sessions.every(({ outcome }) => outcome !== null)
      },
      async () => JSON.stringify(await fleet.show(id).then(({ status, status_reason }) => ({ status, status_reason }))),
      PATIENCE_MS,
    )
  /** Kills the client, not the wrapper that records how it ended. */
  const kill = async (id: string) => {
    const { session_id } = await fleet.show(id)
    const { pid: wrapper } = (await fleet.fleet.store.get('sessions', session_id!))!.value
    for (const pid of fleet.processes(session_id!)) if (pid !== wrapper) endProcess(pid)
  }
  const outcomes = async (id: string) => (await fleet.show(id)).sessions.map(({ outcome }) => outcome)

  switch (ending) {
    case 'ends': {
      held.open()
      const id = await started()
      await over(id)
      expect(await outcomes(id)).toEqual(['completed'])
      return id
    }
    case 'cancelled': {
      const id = await started()
      await atTool()
      await fleet.call('cancel_mission', { mission_id: id })
      await over(id)
      expect(await outcomes(id)).toEqual(['cancelled'])
      return id
    }
    case 'timed out': {
      const id = await started({ timeout_seconds: TIME_LIMIT_S })
      await atTool()
      await over(id)
      expect(await outcomes(id)).toEqual(['limited'])
      return id
    }
    case 'client killed': {
      const id = await started()
      await atTool()
      await kill(id)
      await over(id)
      expect(await outcomes(id)).toEqual(['failed'])
      return id
    }
    case 'handed over': {
      const rest = steps({ write: 'rest.txt', content: 'rest\n', tokens: FIRST }, LAST)
      const note = `echo half >half.txt; printf '%s\\n' '${rest}' >"$FLEET_TASK_DIR/plan.md"`
      const full = { input: 160_000, output: 40 }
      // At a tool, so that no answer is on its way when it is stopped.
      const filled = paid.tellsLate
        ? [
            { run: 'true', tokens: full },
            { run: held.wait, tokens: AT_TOOL },
          ]
        : [{ run: held.wait, tokens: full }]
      const script = [{ run: note, tokens: FIRST }, ...filled, LAST]
      const id = await started({ context_limit_percent: 14 }, script)
      await over(id)
      expect(await outcomes(id)).toEqual(['handed_over', 'completed'])
      return id
    }
    case 'retried': {
      const id = await started({ max_retries: 1 })
      await atTool()
      await kill(id)
      held.open()
      await eventually('it is tried again', async () => (await fleet.show(id)).sessions.length > 1)
      await over(id)
      expect(await outcomes(id)).toEqual(['failed', 'completed'])
      return id
    }
    case 'parked': {
      const asking: Step = paid.asks
        ? { write: 'a.txt', content: 'a\n', tokens: FIRST }
        : { tool: paid.tool('ask_human'), input: { question: 'Which colour?', wait_seconds: 0 }, tokens: FIRST }
      const settings = paid.asks ? { tool_preset: 'review', approvals: 'ask' } : {}
      const id = await started(settings, [{ run: 'git status', tokens: SECOND }, asking, LAST])
      const parked = await eventually(
        'it is put aside',
        async () => (await outcomes(id))[0] ?? undefined,
        undefined,
        PATIENCE_MS,
      )
      expect(parked).toBe('parked')
      const { questions } = await fleet.call<{ questions: { id: string }[] }>('list_inbox')
      const words = steps({ run: 'git status', tokens: SECOND }, LAST)
      const decided = paid.asks ? { decision: 'allow' } : {}
      await fleet.call('answer_question', { question_id: questions[0]!.id, ...decided, text: words })
      await eventually('it goes on', async () => (await fleet.show(id)).sessions.length > 1)
      await over(id)
      return id
    }
    case 'server killed': {
      const id = await started()
      await atTool()
      await fleet.kill()
      held.open()
      await fleet.start()
      await over(id)
      expect((await outcomes(id)).at(-1)).toBe('completed')
      return id
    }
  }
}
