import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeFleet } from '../fleet/fleet.ts'
import { CLIENTS } from '../install/clients.ts'
import { carryOut, planned } from '../install/install.ts'
import { byAddress, byCommand } from '../install/reach.ts'
import { openHome } from '../platform/home.ts'
import { memoryKeys } from '../platform/keys.ts'
import { memoryStore } from '../store/index.ts'
import { connecting } from './connecting.ts'
import { integrations } from './integrations.ts'
import type { Caller } from './operation.ts'

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
    expect(files.map(file => file.connected)).not.toContain(true)

    carryOut(fleet.home.path, [change!])
    expect((await shown()).files[0]).toMatchObject({ scope: 'user', connected: true })
    expect(JSON.stringify(await list())).not.toContain(await fleet.keys.ownerToken())
  },
)

test('before the fleet was ever up there is no address to give', async () => {
  const { list, user } = await aPerson()
  const { clients, mcp, rest } = await list()
  expect([mcp, rest]).toEqual([null, null])
  expect(clients.every(({ over_http }) => over_http === null)).toBe(true)
  // A broken file does not count as connected.
  writeFileSync(join(user, '.claude.json'), '{ "mcpServers": ')
  expect((await list()).clients[0]!.files[0]!.connected).toBe(false)
})

test('a client counts as installed by its program, an editor also by its folder', async () => {
  const { list, user, place } = await aPerson()
  const installed = async () => (await list()).clients.filter(each => each.installed).map(({ name }) => name)
  expect(await installed()).toEqual([])
  mkdirSync(join(user, '.cursor'))
  mkdirSync(join(user, '.codex'))
  writeFileSync(join(user, 'gemini'), '', { mode: 0o755 })
  place.env.PATH = user
  expect(await installed()).toEqual(['cursor', 'gemini'])
})

const connection = (name: (typeof connecting)[number]['name']) => connecting.find(each => each.name === name)!

describe('connecting a client', () => {
  async function aClient() {
    const person = await aPerson()
    const run = async (
      name: (typeof connecting)[number]['name'],
      input: object,
      caller: Caller = { kind: 'owner' },
    ) => {
      const operation = connection(name)
      const given = operation.input.parse({ client: 'claude', ...input }) as never
      return operation.run(
        { fleet: person.fleet, caller, signal: new AbortController().signal },
        given,
      ) as Promise<never>
    }
    return { ...person, run, file: join(person.user, '.claude.json') }
  }
  type Preview = { files: { path: string; change: string; diff: string }[]; digest: string }

  test('writes exactly what the preview showed, and gives the same bytes back', async () => {
    const { run, file } = await aClient()
    const before = '{\n  // mine\n  "theme": "dark"\n}\n'
    writeFileSync(file, before)
    const preview: Preview = await run('preview_connection', {})
    expect(preview.files).toMatchObject([{ path: file, change: 'changed' }])
    expect(preview.files[0]!.diff).toMatch(/^@@ -\d+,\d+ \+\d+,\d+ @@\n/)
    expect(preview.files[0]!.diff).not.toContain('// mine')
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(await run('connect_client', { shown: preview.digest })).toEqual({ client: 'claude', files: [file] })
    expect(readFileSync(file, 'utf8')).toContain('"flotilla"')
    expect(((await run('preview_connection', {})) as Preview).files).toEqual([])
    await run('disconnect_client', {})
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test('is refused if the file changed after the preview', async () => {
    const { run, file } = await aClient()
    const { digest }: Preview = await run('preview_connection', {})
    writeFileSync(file, '{"theme": "light"}')
    await expect(run('connect_client', { shown: digest })).rejects.toThrow(/changed since the preview/)
    expect(readFileSync(file, 'utf8')).toBe('{"theme": "light"}')
  })

  test('is for a person only', async () => {
    const { run, file } = await aClient()
    const session: Caller = { kind: 'session', session_id: 's', mission_id: 'm', project_id: 'p' }
    for (const caller of [session, { kind: 'owner', plugin: 'sneaky' } as const])
      for (const name of ['preview_connection', 'connect_client', 'disconnect_client'] as const)
        await expect(run(name, {}, caller)).rejects.toThrow('Only a person can connect or disconnect a client.')
    expect(existsSync(file)).toBe(false)
  })
})
