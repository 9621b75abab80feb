import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aSchema, SHARED, WHY_SKIPPED } from '../../src/store/postgres/schema.testkit.ts'
import { aFleet } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { inSchema } from '../kit/servers.ts'

const addressOf = ({ url, schema } = aSchema()) => `${url}?schema=${schema}`

describe.skipIf(!SHARED)(`servers on postgresql${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  test('a new home is made there by fleet up --store, and stays there', async () => {
    const fleet = await aFleet()
    const env = { FLEET_HOME: join(fleet.root, 'other'), FLEET_STORE: '' }
    const command = (...args: string[]) => fleet.fleetCommand(args, { env })
    onTestFinished(async () => {
      await command('down')
      await fleet.remove()
    })
    const to = addressOf()
    const secret = await command('up', '--store', to.replace('fleet@', 'fleet:s3cret@'))
    expect(secret).toMatchObject({ code: 2, stderr: expect.stringContaining('seen by everybody') })
    expect((await command('up', '--detach', '--port', '0', '--store', to)).stderr).toContain('Started the fleet')
    expect((await command('status')).stdout).toMatch(/Store\s+PostgreSQL/)
    await command('down')
    const file = join(fleet.root, 'other', 'store.json')
    expect(JSON.parse(readFileSync(file, 'utf8')).url).toContain('schema=test_')
    expect((await command('status')).stdout).toMatch(/Store\s+PostgreSQL/)
  })

  test('a command in another home keeps no text there that the deciding server could not read', async () => {
    const { fleet, project } = await aScene({ env: inSchema() })
    const env = { FLEET_HOME: join(fleet.root, 'other') }
    const create = (prompt: string) => {
      const asked = { project_id: project.id, title: 'asked elsewhere', agent: 'shell', detailed_prompt: prompt }
      return fleet.fleetCommand(['call', 'create_mission', JSON.stringify(asked)], { env })
    }
    const refused = await create(`true # ${'x'.repeat(100_000)}`)
    expect(refused.code).toBeGreaterThan(0)
    expect(refused.stderr).toMatch(/A long text or an image is kept in the home of the server that decides/)
    expect(await create('true')).toMatchObject({ code: 0 })
    const { missions } = await fleet.call<{ missions: object[] }>('list_missions')
    expect(missions).toHaveLength(1)
  })
})
