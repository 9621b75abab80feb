import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually, FULL, type TestFleet } from '../../kit/fleet.ts'
import { prompt } from '../../kit/mission-scenarios.ts'
import { clientScenes, REAL_CLIENTS } from '../../kit/real-clients.ts'
import { type Step, steps } from '../../model/index.ts'

const { model, sceneOf } = clientScenes()

const PATIENCE_MS = 120_000

/** Waits until the mission has stopped after this many sessions. */
const rested = (fleet: TestFleet, id: string, sessions: number) =>
  eventually(
    `mission ${id} rests after ${sessions} sessions`,
    async () => {
      const mission = await fleet.show(id)
      const rests = ['review', 'failed', 'needs_input', 'cancelled'].includes(mission.status)
      return rests && mission.sessions.length === sessions ? mission : undefined
    },
    async () => JSON.stringify(await fleet.show(id)),
    PATIENCE_MS,
  )

/** Writes the folder in which the agent's command ran, and makes a file with the agent's own tool. */
const marking = (name: string): Step[] => [
  { run: `pwd > ${name}-shell.txt` },
  { write: `${name}-tool.txt`, content: `${name}\n` },
  { say: `Made ${name}.` },
]

/** Without FLEET_TEST_SCALE=full: the clients whose forks no other file tests. */
const PART = ['codex', 'gemini', 'opencode']

for (const client of REAL_CLIENTS.filter(({ name }) => FULL || PART.includes(name))) {
  if (!client.binary) console.warn(`Skipped ${client.name}: ${HOW_TO_INSTALL}`)
  const { can } = client.agent
  describe.skipIf(!client.binary)(`${client.name}, as missions get it`, () => {
    test('each fork and resume works in its own worktree, and leaves the first as it was', async () => {
      const { fleet, project, gate } = await sceneOf(client)
      const worktreeOf = async (id: string) => (await fleet.show(id)).sessions.at(-1)!.worktree!
      const expectMade = async (id: string, name: string) => {
        const worktree = await worktreeOf(id)
        const made = [`${name}-shell.txt`, `${name}-tool.txt`].map(file => join(worktree, file))
        expect(made.map(file => existsSync(file) && readFileSync(file, 'utf8').trim())).toEqual([worktree, name])
      }
      const expectNot = async (id: string, ...names: string[]) => {
        const worktree = await worktreeOf(id)
        for (const name of names) expect(existsSync(join(worktree, `${name}-tool.txt`)), `${name} in ${id}`).toBe(false)
        for (const name of names)
          expect(existsSync(join(worktree, `${name}-shell.txt`)), `${name} in ${id}`).toBe(false)
      }
      const lighthouse = `lighthouse-${client.name.replace(/\W/g, '-')}`

      const first = await fleet.mission(project, `Remember the ${lighthouse}.\n${prompt(...marking('first'))}`)
      const made = await rested(fleet, first.id, 1)
      expect(made, JSON.stringify(made.status_reason)).toMatchObject({ status: 'review' })
      await expectMade(first.id, 'first')

      // A fork that is cancelled in the middle of a tool, and then resumed.
      const fork = (name: string, fresh: boolean, script: Step[] = marking(name)) =>
        fleet.call<{ id: string }>('fork_mission', { mission_id: first.id, fresh, message: steps(...script) })
      if (can.fork) {
        const held = gate('fork')
        const { id } = await fork('second', false, [{ run: `pwd > held.txt; ${held.wait}` }, ...marking('second')])
        await eventually('the fork is at its tool', () => held.reached(), undefined, PATIENCE_MS)
        expect(readFileSync(join(await worktreeOf(id), 'held.txt'), 'utf8').trim()).toBe(await worktreeOf(id))
        await fleet.call('cancel_mission', { mission_id: id })
        await rested(fleet, id, 1)
        await fleet.call('resume_mission', { mission_id: id, message: steps(...marking('third')) })
        const resumed = await rested(fleet, id, 2)
        expect(resumed, JSON.stringify(resumed.status_reason)).toMatchObject({
          status: 'review',
          fork_of: { mission_id: first.id },
        })
        await expectMade(id, 'third')
        await expectNot(first.id, 'second', 'third', 'held')
        expect(resumed.sessions[0]!.conversation).not.toBe(made.sessions[0]!.conversation)
        expect(new Set(resumed.sessions.map(({ conversation }) => conversation)).size).toBe(1)
        const asked = model().requests.map(({ body }) => JSON.stringify(body ?? ''))
        expect(asked.some(body => body.includes(lighthouse) && body.includes('third-tool.txt'))).toBe(true)
      } else await expect(fork('second', false)).rejects.toThrow(/cannot copy a conversation/)

      // A fork with a fresh conversation.
      const { id: freshId } = await fork('fresh', true)
      const fresh = await rested(fleet, freshId, 1)
      expect(fresh, JSON.stringify(fresh.status_reason)).toMatchObject({ status: 'review' })
      await expectMade(freshId, 'fresh')
      await expectNot(first.id, 'fresh')

      // The original continues as if there were no forks.
      await fleet.call('resume_mission', { mission_id: first.id, message: steps(...marking('again')) })
      const again = await rested(fleet, first.id, 2)
      expect(again, JSON.stringify(again.status_reason)).toMatchObject({ status: 'review' })
      await expectMade(first.id, 'again')
      await expectNot(freshId, 'again')
      if (can.resume) expect(again.sessions[1]!.conversation).toBe(again.sessions[0]!.conversation)
    }, 400_000)
  })
}
