import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SHARED, WHY_SKIPPED } from '../../src/store/postgres/schema.testkit.ts'
import { account, rawly } from '../../src/store/postgres/server.testkit.ts'
import { eventually, type TestFleet } from '../kit/fleet.ts'
import { aPostgres } from '../kit/postgres.ts'
import { aScene } from '../kit/scene.ts'
import { aSmallDisk, canMount } from '../kit/small-disk.ts'

/** What somebody does to the database beside the fleet, and takes back. */
interface Harm {
  name: string
  does: string[]
  undoes: string[]
  /** What whoever asks for a change is told. */
  says: RegExp
  /** Whether what is stored can still be read. */
  reads: boolean
}

const ROLE = 'fleet_of_test'
const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`
const HARMS: Harm[] = [
  {
    name: 'its schema is gone',
    does: ['ALTER SCHEMA flotilla RENAME TO aside'],
    undoes: ['ALTER SCHEMA aside RENAME TO flotilla'],
    says: /The tables of the fleet are gone/,
    reads: false,
  },
  {
    name: 'its schema was made anew and is empty',
    does: ['ALTER SCHEMA flotilla RENAME TO aside', `CREATE SCHEMA flotilla AUTHORIZATION ${ROLE}`],
    undoes: ['DROP SCHEMA flotilla CASCADE', 'ALTER SCHEMA aside RENAME TO flotilla'],
    says: /The tables of the fleet are gone/,
    reads: false,
  },
  {
    name: 'its role may only read',
    does: [
      'ALTER SCHEMA flotilla OWNER TO fleet',
      ...['TABLES', 'FUNCTIONS'].map(what => `REVOKE ALL ON ALL ${what} IN SCHEMA flotilla FROM ${ROLE}`),
      `GRANT USAGE ON SCHEMA flotilla TO ${ROLE}`,
      `GRANT SELECT ON ALL TABLES IN SCHEMA flotilla TO ${ROLE}`,
    ],
    undoes: [
      `ALTER SCHEMA flotilla OWNER TO ${ROLE}`,
      ...['TABLES', 'FUNCTIONS'].map(what => `GRANT ALL ON ALL ${what} IN SCHEMA flotilla TO ${ROLE}`),
    ],
    says: /The role of the fleet may not do this/,
    reads: true,
  },
  {
    name: 'the database is read-only',
    does: [`ALTER ROLE ${ROLE} SET default_transaction_read_only = on`, CUT],
    undoes: [`ALTER ROLE ${ROLE} RESET default_transaction_read_only`, CUT],
    says: /it cannot be written/,
    reads: true,
  },
  {
    name: 'its role may not connect any more',
    does: [`ALTER ROLE ${ROLE} NOLOGIN`, CUT],
    undoes: [`ALTER ROLE ${ROLE} LOGIN`],
    says: /does not let this user in/,
    reads: false,
  },
]

const ask = (fleet: TestFleet, project: { id: string }, title: string) =>
  fleet.http('/api/missions', {
    method: 'POST',
    body: JSON.stringify({ project_id: project.id, title, detailed_prompt: 'true', agent: 'shell' }),
  })

describe.skipIf(!SHARED)(`a fleet in trouble on postgresql${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  test('whatever is done to its database, it says so in words, its agents go on, and it resumes when that is undone', async () => {
    const server = await aPostgres()
    await rawly(server.url, `CREATE ROLE ${ROLE} LOGIN`)
    await rawly(server.url, `CREATE SCHEMA flotilla AUTHORIZATION ${ROLE}`)
    const { fleet, repo, project, gate } = await aScene({
      env: { FLEET_STORE: server.url.replace('fleet@', `${ROLE}@`) },
    })
    const log = join(fleet.root, 'ran')
    for (const [nth, { name, does, undoes, says, reads }] of HARMS.entries()) {
      const held = gate(`held-${nth}`)
      const { id } = await fleet.mission(project, `${held.wait}; echo ${nth} >> '${log}'; echo ${nth} > ${nth}.txt`)
      await eventually(`${name}: the agent at work`, () => held.reached())
      for (const statement of does) await rawly(server.url, statement)
      const refused = await eventually(
        `${name}: a refusal`,
        async () => {
          const response = await ask(fleet, project, name)
          return response.ok ? undefined : { status: response.status, text: await response.text() }
        },
        undefined,
        60_000,
      )
      expect([name, refused]).toEqual([name, { status: expect.any(Number), text: expect.stringMatching(says) }])
      expect([name, refused.text]).toEqual([name, expect.not.stringContaining('internal')])
      const read = await fleet.http('/api/missions')
      expect([name, read.ok]).toEqual([name, reads])
      // The agent ends meanwhile.
      held.open()
      await eventually('it has worked', () => existsSync(log) && readFileSync(log, 'utf8').includes(`${nth}\n`))
      const command = ['mission', 'create', '--project', project.id, '--agent', 'shell', 'told by a command']
      const told = await fleet.fleetCommand(command)
      expect([name, told.code, told.stderr]).toEqual([name, expect.any(Number), expect.stringMatching(says)])
      const isStopped = nth === 0
      if (isStopped) {
        await fleet.stop()
        expect(await fleet.fleetCommand(['up'])).toMatchObject({ code: 1, stderr: expect.stringMatching(says) })
      }
      for (const statement of undoes) await rawly(server.url, statement)
      if (isStopped) await fleet.start()
      await fleet.until(id, 'done')
      expect(await repo.filesOn('main')).toContain(`${nth}.txt`)
    }
    expect(readFileSync(log, 'utf8')).toBe(HARMS.map((_, nth) => `${nth}\n`).join(''))
    expect((await fleet.events()).filter(({ kind }) => kind === 'landed')).toHaveLength(HARMS.length)
    const { faults } = await fleet.call<{ faults: object[] }>('list_faults')
    expect(faults).toEqual([])
  }, 240_000)

  test.skipIf(!canMount)(
    'the disk of its tables is full: changes are refused, nothing is half written, and it resumes',
    async () => {
      const server = await aPostgres()
      const disk = aSmallDisk(32)
      execFileSync('mkdir', [join(disk.path, 'tables')])
      const { uid, gid } = account()
      if (uid !== undefined) execFileSync('chown', [`${uid}:${gid}`, join(disk.path, 'tables')])
      await rawly(server.url, `CREATE TABLESPACE small LOCATION '${join(disk.path, 'tables')}'`)
      await rawly(server.url, `ALTER ROLE fleet SET default_tablespace = small`)
      const { fleet, repo, project, gate } = await aScene({ env: { FLEET_STORE: server.url } })
      const held = gate('held')
      const { id } = await fleet.mission(project, `${held.wait}; echo a > a.txt`)
      await eventually('the agent at work', () => held.reached())
      disk.fill()
      const made: string[] = []
      // There is room in the pages that are begun.
      const refused = await eventually('a refusal', async () => {
        const response = await ask(fleet, project, 'x'.repeat(250))
        if (response.ok) made.push(((await response.json()) as { id: string }).id)
        return response.ok ? undefined : response.text()
      })
      expect(refused).toContain('The disk of PostgreSQL is full; nothing was written.')
      expect((await fleet.http('/api/missions')).ok).toBe(true)
      held.open()
      disk.free()
      await fleet.until(id, 'done')
      expect(await repo.filesOn('main')).toContain('a.txt')
      const { missions } = await fleet.call<{ missions: { id: string }[] }>('list_missions', { limit: 500 })
      expect(missions.map(({ id: each }) => each).toSorted()).toEqual([...made, id].toSorted())
      expect((await fleet.fleetCommand(['doctor'])).stdout).toMatch(/is up to date and has no errors/)
    },
  )
})
