import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeFleet } from '../fleet/fleet.ts'
import { CLIENTS } from '../install/clients.ts'
import { carryOut, planned } from '../install/install.ts'
import { byAddress, byCommand } from '../install/reach.ts'
import { openHome } from '../platform/home.ts'
import { memoryKeys } from '../platform/keys.ts'
import { memoryStore } from '../store/index.ts'
import { integrations } from './integrations.ts'

async function aPerson() {
  const user = mkdtempSync(join(tmpdir(), 'flotilla-user-'))
  onTestFinished(() => rmSync(user, { recursive: true }))
  const environment = { HOME: user, PATH: '' }
  const fleet = makeFleet({
    home: openHome(join(user, 'a home')),
    keys: memoryKeys(),
    store: memoryStore(),
    environment,
  })
  const caller = { kind: 'owner' as const }
  const list = async () => {
    const [operation] = integrations
    const answer = await operation!.run({ fleet, caller, signal: new AbortController().signal }, {})
    return operation!.output.parse(answer)
  }
  return { user, fleet, list, place: { user, project: join(user, 'project'), env: environment } }
}

test.each(CLIENTS.map(({ name }) => name))(
  '%s: what is shown is what the command writes, and no secret',
  async name => {
    const { fleet, list, place } = await aPerson()
    writeFileSync(join(fleet.home.path, 'port'), '4321\n')
    const client = CLIENTS.find(each => each.name === name)!
    const shown = async () => (await list()).clients.find(each => each.name === name)!
    const wishes = { scope: undefined, file: undefined, allow: undefined, skill: false, remove: false }
    const written = (reach: Parameters<typeof client.entry>[0]) =>
      planned(client, place, fleet.home.path, { ...wishes, reach }).find(({ after }) => after !== undefined)

    const { started, over_http, files } = await shown()
    const program = [process.execPath, process.argv[1]!]
    const change = written(byCommand(program, fleet.home.path, []))
    expect(change).toMatchObject({ file: files[0]!.path, after: started.text })
    expect(written(byAddress('http://127.0.0.1:4321', []))).toMatchObject({ after: over_http!.text })
    expect(started.command).toContain(`mcp install ${name}`)
    expect(over_http!.needs).toContain(`'${join(fleet.home.path, 'token')}'`)
    expect(files.map(file => file.installed)).not.toContain(true)

    carryOut(fleet.home.path, [change!])
    expect((await shown()).files[0]).toMatchObject({ scope: 'user', installed: true })
    expect(JSON.stringify(await list())).not.toContain(await fleet.keys.ownerToken())
  },
)

test('before the fleet was ever up there is no address to give', async () => {
  const { list, user } = await aPerson()
  const { clients, mcp, examples } = await list()
  expect(mcp).toBeNull()
  expect(clients.every(({ over_http }) => over_http === null)).toBe(true)
  expect(examples.map(({ text }) => text).join('\n')).toContain('fleet plugin enable webhook')
  // A broken file does not count as installed.
  writeFileSync(join(user, '.claude.json'), '{ "mcpServers": ')
  expect((await list()).clients[0]!.files[0]!.installed).toBe(false)
})
