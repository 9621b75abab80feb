import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openStore, Unavailable } from '../../src/store/index.ts'
import { aSchema, SHARED, WHY_SKIPPED } from '../../src/store/postgres/schema.testkit.ts'
import { aMission, anEvent } from '../../src/store/samples.testkit.ts'
import { aFleet, eventually } from '../kit/fleet.ts'
import { aBouncer, aPostgres, aWire, PGBOUNCER } from '../kit/postgres.ts'
import { aScene } from '../kit/scene.ts'

const on = (url: string) => ({ FLEET_STORE: url.replace('fleet@', 'fleet:s3cret@') })

describe.skipIf(!SHARED)(`a fleet on postgresql${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  test('the database crashes and comes back: agents go on, requests are refused in words, all is done once', async () => {
    const server = await aPostgres()
    const { fleet, repo, project, gate } = await aScene({ env: on(server.url) })
    const held = gate('held')
    const log = join(fleet.root, 'ran')
    const script = (name: string) => `echo ${name} >> '${log}'; env > '${log}.env'; echo ${name} > ${name}.txt`
    const one = await fleet.mission(project, `${held.wait}; ${script('one')}`)
    const queued = await fleet.mission(project, script('two'), { depends_on: [one.id] })
    await eventually('the agent at work', () => held.reached())

    await server.crash()
    const answer = await eventually('a refusal', async () => {
      const response = await fleet.http('/api/missions')
      return response.status === 503 ? response : undefined
    })
    expect(answer.headers.get('retry-after')).toBe('2')
    const said = await answer.text()
    expect(said).toMatch(/PostgreSQL does not answer/)
    expect(said).not.toContain('s3cret')
    // The agent ends while there is no database.
    held.open()
    await eventually('the agent has worked', () => readFileSync(log, 'utf8') === 'one\n', undefined, 5000).catch(
      () => {},
    )

    await server.start()
    await fleet.until(queued.id, 'done')
    expect(readFileSync(log, 'utf8')).toBe('one\ntwo\n')
    expect(await repo.filesOn('main')).toEqual(['README.md', 'one.txt', 'two.txt'])
    expect(await repo.git('log', '--oneline', '--format=%s', 'main')).not.toMatch(/(a mission)[\s\S]*\1[\s\S]*\1/)

    expect(readFileSync(`${log}.env`, 'utf8')).not.toMatch(/s3cret|FLEET_STORE|POSTGRESQL/)
    const shown = await Promise.all([['status'], ['doctor'], ['config', 'show']].map(args => fleet.fleetCommand(args)))
    const everything = [...shown.flatMap(({ stdout, stderr }) => [stdout, stderr]), serverLog(fleet.root)].join('\n')
    expect(everything).not.toContain('s3cret')
    expect(shown[0]!.stdout).toContain('PostgreSQL')
    expect(shown[1]!.stdout).toMatch(
      /PostgreSQL \d+\.\d+ \(the database postgres at 127\.0\.0\.1:\d+, schema flotilla\)/,
    )
    expect(readFileSync(join(fleet.root, 'home', 'holder.json'), 'utf8')).not.toContain('s3cret')
    expect(readFileSync(join(fleet.root, 'home', 'store.json'), 'utf8')).not.toContain('s3cret')
  })

  const serverLog = (root: string): string => readFileSync(join(root, 'home', 'logs', 'server.log'), 'utf8')

  test('a database that is down at the start is told in one sentence, and the fleet starts once it is up', async () => {
    const server = await aPostgres()
    const fleet = await aFleet({ env: on(server.url) })
    onTestFinished(() => fleet.remove())
    await server.stop()
    for (const command of [['up'], ['mission', 'list']]) {
      const { code, stderr } = await fleet.fleetCommand(command)
      expect(code).toBeGreaterThan(0)
      expect(stderr).toMatch(/PostgreSQL does not answer: the database postgres at .* \(nothing listens there\)\./)
      expect(stderr).not.toContain('s3cret')
    }
    await server.start()
    await fleet.start()
    expect((await fleet.http('/api/missions')).status).toBe(200)
  })

  test('a database that hangs is Unavailable after the time limit, and goes on when it answers', async () => {
    const server = await aPostgres()
    const wire = await aWire(server.port)
    const url = `postgresql://fleet@127.0.0.1:${wire.port}/postgres?statement_timeout=300&connect_timeout=1`
    const store = await openStore({ engine: 'postgresql', url }, { migrate: true })
    onTestFinished(() => store.close())
    const before = await store.tail()
    wire.hang(true)
    const began = performance.now()
    await expect(store.get('missions', 'a')).rejects.toBeInstanceOf(Unavailable)
    await expect(store.commit({ changes: [], events: [anEvent()] })).rejects.toBeInstanceOf(Unavailable)
    expect(performance.now() - began).toBeLessThan(15_000)
    wire.hang(false)
    expect(await store.get('missions', 'a')).toBeUndefined()
    expect(Number(await store.tail()) - Number(before)).toBeLessThanOrEqual(1)
  })

  describe.skipIf(!PGBOUNCER)(`behind PgBouncer${PGBOUNCER ? '' : ' (it is not installed)'}`, () => {
    test('in transaction mode everything works, and commits of others are noticed by looking', async () => {
      const server = await aPostgres()
      const { url } = await aBouncer(server, 'transaction')
      const settings = { ...aSchema(url), poolSize: 10 }
      const [store, other] = [
        await openStore(settings, { migrate: true }),
        await openStore(settings, { migrate: false }),
      ]
      onTestFinished(() => Promise.all([store.close(), other.close()]).then(() => {}))
      const hint = vi.fn()
      store.watch(hint)
      await Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          other.commit({
            changes: [{ put: 'missions', value: aMission(`m${n}`), expects: 'absent' }],
            events: [anEvent()],
          }),
        ),
      )
      expect((await store.find('missions', { index: 'created', limit: 100 })).items).toHaveLength(60)
      expect((await store.events({ limit: 100 })).events).toHaveLength(60)
      // After the test announcement was not heard.
      await new Promise(resolve => setTimeout(resolve, 2500))
      hint.mockClear()
      await other.commit({ changes: [], events: [anEvent()] })
      await vi.waitFor(() => expect(hint).toHaveBeenCalled(), { timeout: 3000 })
    })

    test('it is killed and started again under a fleet: agents go on, and all is done once', async () => {
      const bouncer = await aBouncer(await aPostgres(), 'transaction')
      const { fleet, repo, project, gate } = await aScene({ env: { FLEET_STORE: bouncer.url } })
      const log = join(fleet.root, 'ran')
      const script = (name: string) => `echo ${name} >> '${log}'; echo ${name} > ${name}.txt`
      const held = gate('held')
      const { id } = await fleet.mission(project, `${held.wait}; ${script('held')}`)
      await eventually('the agent at work', () => held.reached())
      const missions = [id]
      for (const name of ['one', 'two', 'three']) {
        // Its commits are on their way.
        const { id: next } = await fleet.mission(project, script(name), { depends_on: missions.slice(-1) })
        missions.push(next)
        await bouncer.crash()
        if (name === 'one') held.open()
        const asked = fleet.http('/api/missions').then(({ status }) => status)
        await bouncer.start()
        expect([200, 503]).toContain(await asked)
      }
      await eventually(
        'all are done',
        async () => (await fleet.show(missions.at(-1)!)).status === 'done',
        async () => (await fleet.events()).map(({ kind, time, cause }) => `${time} ${kind} ${cause ?? ''}`).join('\n'),
        120_000,
      )
      expect(readFileSync(log, 'utf8')).toBe('held\none\ntwo\nthree\n')
      expect(await repo.filesOn('main')).toEqual(['README.md', 'held.txt', 'one.txt', 'three.txt', 'two.txt'])
      const { faults } = await fleet.call<{ faults: object[] }>('list_faults')
      expect(faults).toEqual([])
    }, 180_000)

    test('in statement mode it is refused, with what to do', async () => {
      const { url } = await aBouncer(await aPostgres(), 'statement')
      const refusal = await openStore(aSchema(url), { migrate: true }).catch(error => error)
      expect(refusal.message).toMatch(/does not let this pass/)
      expect(refusal.hint).toContain('transaction')
    })
  })
})
