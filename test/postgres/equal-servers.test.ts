import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { LEASE_MS } from '../../src/domain/rules/lease.ts'
import { sealed } from '../../src/operations/forwarding.ts'
import { KEY_FILES, memoryKeys } from '../../src/platform/keys.ts'
import { SHARED, WHY_SKIPPED } from '../../src/store/postgres/schema.testkit.ts'
import { rawly } from '../../src/store/postgres/server.testkit.ts'
import { eventually } from '../kit/fleet.ts'
import { aPostgres } from '../kit/postgres.ts'
import { aScene } from '../kit/scene.ts'
import { aServer, decider, heldIn, inSchema, serversOf } from '../kit/servers.ts'

describe.skipIf(!SHARED)(`equal servers on postgresql${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  test('a server that does not decide does everything that is asked of it, or names the one to ask', async () => {
    const { fleet, repo, project } = await aScene({ env: inSchema(), start: false, project: { landing: 'review' } })
    const first = await aServer(fleet, [])
    // Requests of the kit go to the last one that was started.
    const second = await aServer(fleet)
    expect(await decider(fleet, [first, second])).toBe(first)
    const ask = async (method: string, path: string, body?: object, headers?: Record<string, string>) => {
      const init = { method, ...(body && { body: JSON.stringify(body) }), ...(headers && { headers }) }
      const response = await fleet.http(path, init)
      return { status: response.status, body: (await response.json()) as Record<string, never> & { id: string } }
    }
    // A wish: the first one carries it out.
    const { body: mission } = await ask('POST', '/api/missions', {
      ...{ project_id: project.id, title: 'asked of the second', agent: 'shell', auto_dispatch: true },
      detailed_prompt: 'echo two > two.txt',
    })
    await fleet.until(mission.id, 'review')
    // What works with files is passed on.
    const review = await ask('GET', `/api/missions/${mission.id}/review`)
    expect(review.status).toBe(200)
    const { candidate } = review.body as unknown as { candidate: { commit: string } }
    const landed = await ask('POST', `/api/missions/${mission.id}/land`, { expected: candidate.commit })
    expect(landed).toMatchObject({ status: 200, body: { id: mission.id } })
    await fleet.until(mission.id, 'done')
    expect(await repo.filesOn('main')).toContain('two.txt')
    expect((await ask('GET', '/api/plugins')).status).toBe(200)
    expect((await ask('GET', '/api/disk')).status).toBe(200)
    expect((await ask('POST', '/api/live', {})).body).toHaveProperty('ticket')
    expect((await ask('GET', '/api/missions/nobody/diff')).status).toBe(404)
    // One entry in the audit log, of who asked.
    const { body: audit } = await ask('GET', '/api/audit?operation=land_mission')
    expect((audit as unknown as { entries: object[] }).entries).toMatchObject([{ outcome: 'done', way: 'rest' }])
    // What is of use only there is not passed on.
    const terminal = await ask('POST', `/api/missions/${mission.id}/terminal`, {})
    expect(terminal).toMatchObject({
      status: 503,
      body: { error: { message: expect.stringContaining('needs the server that decides'), url: first.url } },
    })
    const status = await ask('GET', '/api/system/status')
    expect(status.body).toMatchObject({
      servers: { decider: { url: first.url }, servers: [{ decides: true }, { decides: false, same_home: true }] },
    })
    const shown = (await fleet.fleetCommand(['status'])).stdout
    expect(shown).toMatch(/Decides\s+.*process/)
    expect(shown).toMatch(/answers/)
    expect(await (await fetch(`${second.url}/ready`)).json()).toMatchObject({ ready: true, lease: 'lost' })
    const measured = await (await fleet.http('/metrics')).text()
    expect(measured).toMatch(/fleet_servers\{role="answers"\} 1/)
    expect(measured).toMatch(/fleet_lease_held 0/)
    expect(measured).toMatch(/^fleet_lease_left_seconds (?!0$)\d/m)
    expect(measured).toMatch(/^fleet_server_heard_seconds \d/m)

    // Nobody else passes anything on: not a stranger, not a person, and nothing twice.
    const letter = { operation: 'clean', input: {}, caller: { kind: 'owner' as const } }
    const forged = await sealed(memoryKeys(), letter, Date.now())
    const post = (body: object) =>
      fetch(`${first.url}/api/forwarded`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
      }).then(({ status: code }) => code)
    const real = await sealed(fleet.fleet.keys, letter, Date.now())
    expect(await post(forged)).toBe(401)
    expect(await post({ ...real, letter: real.letter.replace('clean', 'clear') })).toBe(401)
    expect(await post({})).toBe(401)
    expect(await post(await sealed(fleet.fleet.keys, letter, Date.now() - 60_000))).toBe(401)
    const inputs = { older_than_hours: 0, dry_run: true, keep_branches: false, warm: false }
    const whole = await sealed(fleet.fleet.keys, { ...letter, input: inputs }, Date.now())
    expect(await post(whole)).toBe(200)
    expect(await post(whole)).toBe(401)
    // Whoever passes on for somebody has only their rights.
    const nobody = { kind: 'person' as const, id: 'p1', name: 'Nobody', grants: [], limit: null }
    expect(await post(await sealed(fleet.fleet.keys, { ...letter, caller: nobody }, Date.now()))).toBe(403)

    // While nobody decides, that is said.
    await first.kill()
    const refused = await ask('GET', '/api/disk')
    if (refused.status !== 200) expect(refused.status).toBe(503)
    expect(await decider(fleet, [second])).toBe(second)
    await eventually('it acts', async () => (await ask('GET', '/api/disk')).status === 200)
  }, 120_000)

  test('a server of another home answers with the same keys, and never decides by itself', async () => {
    const { fleet, project, gate } = await aScene({ env: inSchema(), start: false })
    const first = await aServer(fleet, [])
    const other = join(fleet.root, 'other')
    const env = { FLEET_HOME: other }
    const strange = await fleet.fleetCommand(['up', '--port', '0'], { env })
    expect(strange.code).toBe(1)
    expect(strange.stderr).toContain('This home has other keys than the servers of this store')
    for (const name of KEY_FILES) copyFileSync(join(fleet.root, 'home', name), join(other, name))
    const beside = await aServer(fleet, [], env)
    const held = gate('held')
    const { id } = await fleet.mission(project, `${held.wait}; echo one > one.txt`)
    await eventually('the agent at work', () => held.reached())
    const long = await fleet.http('/api/missions', {
      method: 'POST',
      body: JSON.stringify({ project_id: project.id, title: 'long', detailed_prompt: 'x'.repeat(200_000) }),
    })
    expect(long.status).toBe(503)
    expect(await long.text()).toContain('A long text or an image needs the server that decides')
    const session = (await fleet.show(id)).sessions[0]!.id
    const transcript = await fleet.http(`/api/sessions/${session}/transcript`)
    expect(await transcript.text()).toContain('is on host')

    await first.kill()
    await eventually('the lease is over', async () => (await heldIn(fleet)).leftMs < -1500)
    expect(beside.said()).toContain('The files of this fleet are in another home')
    held.open()
    const again = await aServer(fleet, [])
    expect(await decider(fleet, [again, beside])).toBe(again)
    await fleet.until(id, 'done')
    await again.stop()
    await beside.stop()
    const moved = await aServer(fleet, ['--decide'], env)
    expect(await decider(fleet, [moved])).toBe(moved)
  }, 120_000)

  test('the database restarts under two servers, and a newer store ends them in words', async () => {
    const server = await aPostgres()
    const { fleet, repo, project, gate } = await aScene({ env: { FLEET_STORE: server.url }, start: false })
    const servers = [await aServer(fleet, []), await aServer(fleet)]
    const held = gate('held')
    const { id } = await fleet.mission(project, `${held.wait}; echo one > one.txt`)
    await eventually('the agent at work', () => held.reached())
    await server.crash()
    const answer = await eventually('a refusal', async () => {
      const response = await fleet.http('/api/missions')
      return response.status === 503 ? response.text() : undefined
    })
    expect(answer).toMatch(/PostgreSQL does not answer/)
    held.open()
    await pause(LEASE_MS)
    await server.start()
    await decider(fleet, servers)
    await fleet.until(id, 'done')
    expect(await repo.filesOn('main')).toEqual(['README.md', 'one.txt'])
    expect((await fleet.events()).filter(({ kind }) => kind === 'landed')).toHaveLength(1)

    await rawly(server.url, 'UPDATE flotilla.store SET indexes = indexes + 1')
    for (const each of servers) {
      await eventually('it ends', () => each.child.exitCode !== null)
      expect(each.child.exitCode).toBe(1)
      expect(each.said()).toContain('this program only knows up to version')
    }
    const refused = await fleet.fleetCommand(['up'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('Use the newer fleet program')
    await rawly(server.url, 'UPDATE flotilla.store SET indexes = indexes - 1')

    // An older server decides, and this one has to bring the store up to date.
    const old = await aServer(fleet, [])
    await rawly(server.url, 'UPDATE flotilla.store SET indexes = indexes - 1')
    const newer = aServer(fleet)
    await eventually('it waits', async () => (await serversOf(fleet)).length === 1 && pause(1500).then(() => true))
    expect(await heldIn(fleet)).toMatchObject({ server: { pid: old.child.pid } })
    await old.stop()
    expect(await decider(fleet, [await newer])).toBe(await newer)
    await decider(fleet, [await newer])
  }, 120_000)
})
