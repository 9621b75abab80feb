import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Home, openHome } from '../platform/home.ts'
import { openKeys } from '../platform/keys.ts'
import { VERSION } from '../platform/version.ts'
import { takeLock } from '../store/index.ts'
import { fleet } from './testing.ts'

let home: Home
const undo: (() => unknown)[] = []
beforeEach(() => {
  home = openHome(mkdtempSync(join(tmpdir(), 'fleet-cli-')))
  undo.push(() => rmSync(home.path, { recursive: true, force: true }))
})
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** A server that holds the home and answers every request in the same way. */
async function aServerOf(version: string, settings: Record<string, string> = {}): Promise<{ asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    response.end('{"missions": []}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  undo.push(() => server.close())
  const lease = takeLock(home.path)!
  undo.push(() => lease.release())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await lease.announce({ pid: process.pid, started: 'now', version, host: hostname(), url, settings, flags: {} })
  return { asked }
}

const list = () => fleet(['mission', 'list', '--json'], { real: true, env: { FLEET_HOME: home.path } })

test('a store that is not there yet is made under the lease, which is let go', async () => {
  expect(JSON.parse((await list()).out)).toEqual({ missions: [] })
  const lease = takeLock(home.path)
  expect(lease).toBeDefined()
  lease?.release()
})

test('a running server of another version is asked, with the token of the home', async () => {
  const { asked } = await aServerOf('0.0.0-other')
  expect((await list()).code).toBe(0)
  expect(asked).toEqual([`GET /api/missions?limit=50 Bearer ${await openKeys(home).ownerToken()}`])
})

test('one of the same version is not: the store is read here', async () => {
  await list()
  const { asked } = await aServerOf(VERSION)
  expect((await list()).code).toBe(0)
  expect(asked).toEqual([])
})

test('the settings of a running server hold, whatever shell a command is typed in', async () => {
  await list()
  await aServerOf(VERSION, { FLEET_MAX_CONCURRENT: '7', FLEET_ALLOWED_REPOS: mkdtempSync(join(home.path, 'allowed-')) })
  const typed = (...args: string[]) =>
    fleet(args, {
      real: true,
      env: { FLEET_HOME: home.path, FLEET_MAX_CONCURRENT: '3', FLEET_DEFAULT_AGENT: 'claude' },
    })
  expect(JSON.parse((await typed('status', '--json')).out)).toMatchObject({ max_concurrent: 7 })
  expect(JSON.parse((await typed('call', 'get_engine')).out)).toMatchObject({ default_agent: null })
  const elsewhere = await typed('project', 'add', mkdtempSync(join(home.path, 'elsewhere-')))
  expect(elsewhere.code).not.toBe(0)
  expect(elsewhere.err).toContain('FLEET_ALLOWED_REPOS')
})
