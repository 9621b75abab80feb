import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SHARED, WHY_SKIPPED } from '../../src/store/postgres/schema.testkit.ts'
import { eventually } from '../kit/fleet.ts'
import { aPostgres, aWire } from '../kit/postgres.ts'
import { aScene } from '../kit/scene.ts'
import { aServer, decider } from '../kit/servers.ts'

describe.skipIf(!SHARED)(`servers that are cut off on postgresql${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  test('a deciding server whose link to the database hangs is replaced, and does nothing beside the next one', async () => {
    const server = await aPostgres()
    const wire = await aWire(server.port)
    const { fleet, repo, project, gate } = await aScene({ env: { FLEET_STORE: server.url }, start: false })
    const behindWire = { FLEET_STORE: server.url.replace(`:${server.port}`, `:${wire.port}`) }
    const first = await aServer(fleet, [], behindWire)
    const second = await aServer(fleet)
    expect(await decider(fleet, [first, second])).toBe(first)
    const log = join(fleet.root, 'ran')
    const held = gate('held')
    const script = (name: string) => `echo ${name} >> '${log}'; echo ${name} > ${name}.txt`
    const one = await fleet.mission(project, `${held.wait}; ${script('one')}`)
    await eventually('the agent at work', () => held.reached())

    wire.hang(true)
    const hungAt = performance.now()
    expect(await decider(fleet, [second])).toBe(second)
    const tookMs = performance.now() - hungAt
    console.log(`failover after a link that hangs: ${Math.round(tookMs)} ms`)
    expect(tookMs).toBeLessThan(8000)
    held.open()
    const two = await fleet.mission(project, script('two'), { depends_on: [one.id] })
    await fleet.until(two.id, 'done')
    const ready = await fetch(`${first.url}/ready`, { signal: AbortSignal.timeout(20_000) })
    expect(ready.status).toBe(503)

    wire.hang(false)
    await eventually('it has noticed', () => first.said().includes('Another server decides now'))
    await eventually('it answers', async () => (await fetch(`${first.url}/ready`)).ok)
    expect(readFileSync(log, 'utf8')).toBe('one\ntwo\n')
    expect(await repo.filesOn('main')).toEqual(['README.md', 'one.txt', 'two.txt'])
    expect((await fleet.events()).filter(({ kind }) => kind === 'landed')).toHaveLength(2)
  }, 120_000)
})
