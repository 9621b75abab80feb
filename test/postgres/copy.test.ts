import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { KEY_FILES } from '../../src/platform/keys.ts'
import { openStore } from '../../src/store/index.ts'
import { examinePostgres } from '../../src/store/postgres/examine.ts'
import { aSchema, SHARED, WHY_SKIPPED } from '../../src/store/postgres/schema.testkit.ts'
import { aMission, anEvent } from '../../src/store/samples.testkit.ts'
import { aFleet, eventually, NODE, ROOT, type TestFleet } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aServer, inSchema } from '../kit/servers.ts'

const addressOf = ({ url, schema } = aSchema()) => `${url}?schema=${schema}`

describe.skipIf(!SHARED)(`a home moves to postgresql and back${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  const ok = async (fleet: TestFleet, ...args: string[]) => {
    const result = await fleet.fleetCommand(args)
    expect(result.code, `${args.join(' ')}: ${result.stderr}`).toBe(0)
    return result.stdout
  }
  const json = async (fleet: TestFleet, ...args: string[]) => JSON.parse(await ok(fleet, ...args, '--json'))
  /** A home on SQLite, whichever engine the tests run on. */
  const onSqlite = { FLEET_STORE: '' }

  test('with all its missions and events, and goes on there; a backup of it is a home on SQLite', async () => {
    const { fleet, repo, project } = await aScene({ env: onSqlite })
    const done = await fleet.mission(project, 'echo one > one.txt')
    await fleet.until(done.id, 'done')
    const to = addressOf()
    const busy = await fleet.fleetCommand(['store', 'copy', '--to', to])
    expect(busy.stderr).toContain('A running fleet holds this home.')
    const before = await ok(fleet, 'mission', 'show', done.id, '--json')
    await fleet.stop()

    const secret = await fleet.fleetCommand(['store', 'copy', '--to', to.replace('fleet@', 'fleet:s3cret@')])
    expect(secret).toMatchObject({ code: 2, stderr: expect.stringContaining('seen by everybody') })
    expect(secret.stderr).not.toContain('s3cret')

    const copied = await json(fleet, 'store', 'copy', '--to', to)
    expect(copied).toMatchObject({ records: expect.any(Number), events: expect.any(Number) })
    expect(copied.events).toBeGreaterThan(5)
    const home = join(fleet.root, 'home')
    expect(existsSync(join(home, 'store.db'))).toBe(false)
    expect(existsSync(copied.aside)).toBe(true)
    expect(JSON.parse(await ok(fleet, 'mission', 'show', done.id, '--json'))).toEqual(JSON.parse(before))
    expect(await ok(fleet, 'status')).toMatch(/Store\s+PostgreSQL/)
    const again = await fleet.fleetCommand(['store', 'copy', '--to', to])
    expect(again.stderr).toContain('in PostgreSQL already')
    const other = await aFleet({ env: onSqlite })
    onTestFinished(() => other.remove())
    const taken = await other.fleetCommand(['store', 'copy', '--to', to])
    expect(taken.stderr).toContain('The target is not empty')
    expect(existsSync(join(other.root, 'home', 'store.db'))).toBe(true)
    const contradiction = await fleet.fleetCommand(['status'], { env: { STORAGE_BACKEND: 'sqlite' } })
    expect(contradiction.stderr).toContain('but STORAGE_BACKEND says SQLite')

    await fleet.start()
    const asked = { title: 'two', detailed_prompt: 'echo two > two.txt', auto_dispatch: true, agent: 'shell' }
    const body = JSON.stringify({ project_id: project.id, ...asked })
    const read = async (path: string, init?: RequestInit) =>
      (await (await fleet.http(path, init)).json()) as { id: string; status: string }
    const created = await read('/api/missions', { method: 'POST', body })
    await eventually('the mission done', async () => {
      return (await read(`/api/missions/${created.id}`)).status === 'done'
    })
    // The kit still has the file of before open, like a command that began earlier.
    await expect(fleet.mission(project, 'echo lost')).rejects.toThrow('moved to another store')
    expect(await repo.filesOn('main')).toContain('two.txt')
    await ok(fleet, 'backup', join(fleet.root, 'b.tar.gz'))
    await ok(fleet, 'restore', join(fleet.root, 'b.tar.gz'), '--home', join(fleet.root, 'restored'))
    expect(existsSync(join(fleet.root, 'restored', 'store.json'))).toBe(false)
    const missions = async (...more: string[]) =>
      (await json(fleet, 'mission', 'list', ...more)).missions.map(({ id, status }: Record<string, string>) => [
        id,
        status,
      ])
    const there = await missions()
    expect(there).toHaveLength(2)
    expect(await missions('--home', join(fleet.root, 'restored'))).toEqual(there)
    await fleet.stop()

    await json(fleet, 'store', 'copy', '--from')
    expect(readdirSync(home).filter(name => name.includes('being-copied'))).toEqual([])
    expect(existsSync(join(home, 'store.json'))).toBe(false)
    expect(await missions()).toEqual(there)
    expect(await ok(fleet, 'doctor')).toMatch(/SQLite opens, is up to date and has no errors/)
  })

  test('a copy that is killed at any moment has changed nothing, and is made again', async () => {
    const fleet = await aFleet({ env: onSqlite })
    onTestFinished(() => fleet.remove())
    const file = join(fleet.root, 'home', 'store.db')
    const store = await openStore({ engine: 'sqlite', file }, { migrate: true })
    const events = Array.from({ length: 60 }, (_, n) => anEvent({ data: { n, text: 'x'.repeat(500) } }))
    for (let n = 0; n < 60; n++)
      await store.commit({
        changes: Array.from({ length: 30 }, (_, i) => ({
          put: 'missions' as const,
          value: aMission(`m${n}-${i}`),
          expects: 'absent' as const,
        })),
        events,
      })
    await store.close()
    const settings = aSchema()
    const copy = (...args: string[]) =>
      spawn(NODE, [join(ROOT, 'bin/fleet.js'), 'store', 'copy', ...args, '--home', join(fleet.root, 'home')], {
        env: { PATH: process.env.PATH, HOME: fleet.root },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    const killed = async (args: string[], afterMs: number): Promise<boolean> => {
      const child = copy(...args)
      const exit = new Promise<NodeJS.Signals | null>(resolve => child.once('exit', (_, signal) => resolve(signal)))
      await pause(afterMs)
      child.kill('SIGKILL')
      return (await exit) === 'SIGKILL'
    }
    for (const [args, isThere] of [
      [['--to', addressOf(settings)], () => existsSync(join(fleet.root, 'home', 'store.json'))],
      [['--from'], () => !existsSync(join(fleet.root, 'home', 'store.json'))],
    ] as const) {
      let cut = 0
      for (let afterMs = 150; !isThere() && afterMs < 20_000; afterMs *= 1.35)
        cut += Number(await killed([...args], afterMs))
      expect(cut).toBeGreaterThan(2)
      expect(isThere()).toBe(true)
      expect(readdirSync(join(fleet.root, 'home')).filter(name => name.includes('.new'))).toEqual([])
    }
    expect(await examinePostgres(settings)).toMatchObject({ damaged: [], indexes: 0 })
    const back = await openStore({ engine: 'sqlite', file }, { migrate: false })
    expect((await back.find('missions', { index: 'created', limit: 5000 })).items).toHaveLength(1800)
    expect((await back.events({ limit: 5000 })).events).toHaveLength(3600)
    await back.close()
  })

  test('an address in a file is used, and remembered as that file', async () => {
    const fleet = await aFleet({ env: onSqlite })
    onTestFinished(() => fleet.remove())
    const secret = join(fleet.root, 'address')
    writeFileSync(secret, `${addressOf().replace('fleet@', 'fleet:s3cret@')}\n`, { mode: 0o600 })
    await ok(fleet, 'store', 'copy', '--to', `file:${secret}`)
    expect(JSON.parse(readFileSync(join(fleet.root, 'home', 'store.json'), 'utf8')).url).toBe(`file:${secret}`)
    expect(await ok(fleet, 'status')).toMatch(/Store\s+PostgreSQL/)
  })

  test('a file that is named from where it is, is found from everywhere', async () => {
    const ways: [string, Record<string, string>][] = [
      ['store copy --to file:address', {}],
      ['up --detach --port 0', { FLEET_STORE_FILE: 'address' }],
    ]
    for (const [way, chosen] of ways) {
      const fleet = await aFleet({ env: onSqlite })
      onTestFinished(() => fleet.remove())
      writeFileSync(join(fleet.root, 'address'), addressOf(), { mode: 0o600 })
      const home = join(fleet.root, 'other')
      const made = await fleet.fleetCommand(way.split(' '), { env: { FLEET_HOME: home, ...chosen } })
      expect([way, made.code, made.stderr]).toEqual([way, 0, expect.any(String)])
      expect(JSON.parse(readFileSync(join(home, 'store.json'), 'utf8')).url).toBe(`file:${join(fleet.root, 'address')}`)
      const elsewhere = await fleet.fleetCommand(['status'], { cwd: '/', env: { FLEET_HOME: home } })
      expect(elsewhere.stdout).toMatch(/Store\s+PostgreSQL/)
      await fleet.fleetCommand(['down'], { env: { FLEET_HOME: home } })
    }
  })

  test('records that a server of another home works with are not moved away from it', async () => {
    const { fleet } = await aScene({ env: inSchema(), start: false })
    const first = await aServer(fleet, [])
    const other = join(fleet.root, 'other')
    mkdirSync(other)
    for (const name of KEY_FILES) copyFileSync(join(fleet.root, 'home', name), join(other, name))
    const beside = await aServer(fleet, [], { FLEET_HOME: other })
    await first.stop()
    const refused = await fleet.fleetCommand(['store', 'copy', '--from'])
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('A running server uses these records') })
    expect(refused.stderr).toContain(beside.url)
    expect(existsSync(join(fleet.root, 'home', 'store.json'))).toBe(true)
    await beside.stop()
    await ok(fleet, 'store', 'copy', '--from')
    expect(existsSync(join(fleet.root, 'home', 'store.json'))).toBe(false)
  })
})
