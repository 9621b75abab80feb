import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { LEASE_MS } from '../../src/domain/rules/lease.ts'
import { SHARED, WHY_SKIPPED } from '../../src/store/postgres/schema.testkit.ts'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aServer, decider, heldIn, inSchema, serversOf } from '../kit/servers.ts'

/** Three lease times. */
const LONG_MS = 3 * LEASE_MS

describe.skipIf(!SHARED)(`several servers on postgresql${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  test('one of three decides; killed, stopped for three lease times, stopped cleanly: each mission lands once', async () => {
    const { fleet, repo, project, gate } = await aScene({ env: inSchema(), start: false })
    const servers = [await aServer(fleet, []), await aServer(fleet), await aServer(fleet)]
    const log = join(fleet.root, 'ran')
    const missions: string[] = []
    const mission = async (name: string, before = ''): Promise<string> => {
      const { id } = await fleet.mission(project, `${before}echo ${name} >> '${log}'; echo ${name} > ${name}.txt`)
      missions.push(id)
      return id
    }
    const first = await decider(fleet, servers)
    expect(first).toBe(servers[0])
    expect(await serversOf(fleet)).toHaveLength(3)
    const { epoch } = await heldIn(fleet)

    // Killed while an agent is at work: the next one adopts the agent.
    const held = gate('held')
    const one = await mission('one', `${held.wait}; `)
    await eventually('the agent at work', () => held.reached())
    await first.kill()
    const killedAt = performance.now()
    const second = await decider(fleet, servers.slice(1))
    const afterKill = performance.now() - killedAt
    await eventually('the next one acts', async () => (await fleet.events()).some(({ kind }) => kind === 'adopted'))
    console.log(`failover after kill -9: ${Math.round(afterKill)} ms`)
    expect(afterKill).toBeLessThan(8000)
    held.open()
    await fleet.until(one, 'done')

    // Stopped with an agent at work, for longer than its lease, and then it goes on.
    const slow = gate('slow')
    const two = await mission('two', `${slow.wait}; `)
    await eventually('the agent at work', () => slow.reached())
    second.signal('SIGSTOP')
    const stoppedAt = performance.now()
    const rest = servers.filter(each => each !== first && each !== second)
    const third = await decider(fleet, rest)
    const afterStop = performance.now() - stoppedAt
    console.log(`failover after SIGSTOP: ${Math.round(afterStop)} ms`)
    expect(afterStop).toBeLessThan(8000)
    slow.open()
    await fleet.until(two, 'done')
    const three = await mission('three')
    await fleet.until(three, 'done')
    await pause(Math.max(0, LONG_MS - (performance.now() - stoppedAt)))
    second.signal('SIGCONT')
    await eventually('the stopped one has noticed', () => second.said().includes('Another server decides now'))
    expect((await fetch(`${second.url}/ready`)).status).toBe(200)

    // A clean stop hands over at once, to the one that had lost it before.
    const stopping = third.stop()
    const askedAt = performance.now()
    expect(await decider(fleet, [second])).toBe(second)
    const afterDown = performance.now() - askedAt
    console.log(`handed over by a clean stop: ${Math.round(afterDown)} ms`)
    await stopping
    const four = await mission('four')
    await fleet.until(four, 'done')

    expect(readFileSync(log, 'utf8').split('\n').filter(Boolean).toSorted()).toEqual(['four', 'one', 'three', 'two'])
    expect(await repo.filesOn('main')).toEqual(['README.md', 'four.txt', 'one.txt', 'three.txt', 'two.txt'])
    const events = await fleet.events()
    for (const id of missions)
      expect(events.filter(({ kind, mission_id }) => kind === 'landed' && mission_id === id)).toHaveLength(1)
    const changes = events.filter(({ kind }) => kind === 'decider_changed')
    expect(changes).toHaveLength(4)
    expect(changes.at(-1)!.data).toMatchObject({
      server: expect.stringContaining(String(second.child.pid)),
      before: expect.stringContaining(String(third.child.pid)),
    })
    expect((await heldIn(fleet)).epoch).toBeGreaterThanOrEqual(epoch + 3)
    const faults = await fleet.call<{ faults: object[] }>('list_faults')
    expect(faults.faults).toEqual([])
  }, 120_000)
})
