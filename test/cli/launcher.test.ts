import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SMALL_MEMORY } from '../../src/daemon/environment.ts'
import { isHeld } from '../../src/store/index.ts'
import { eventually, NODE, ROOT } from '../kit/fleet.ts'

/** Makes the launcher believe that it runs on a Node that is too old, like the one of many systems. */
const OLD = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.0.0'}})`

const FLEET = join(ROOT, 'bin/fleet.js')

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-launcher-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** A machine whose own Node is no good, and where npm has linked `fleet`. */
function aMachine(): { home: string; fleet: string; env: NodeJS.ProcessEnv } {
  const root = aFolder()
  const home = join(root, 'home')
  for (const folder of ['home', 'bin', 'lib']) mkdirSync(join(root, folder))
  writeFileSync(join(root, 'bin/node'), '#!/bin/sh\necho too old >&2\nexit 9\n', { mode: 0o755 })
  symlinkSync(FLEET, join(root, 'lib/fleet.js'))
  symlinkSync('../lib/fleet.js', join(root, 'bin/fleet'))
  const env = { PATH: `${join(root, 'bin')}:/usr/bin:/bin`, HOME: root, FLEET_HOME: home }
  return { home, fleet: join(root, 'bin/fleet'), env }
}

test('run by its name, the program is the only process: the server itself', async () => {
  const { home, fleet, env } = aMachine()
  const child = spawn(fleet, ['up', '--port', '0'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', chunk => (said += chunk))
  await eventually('the server is up', () => said.includes('is up at') || undefined)
  expect(JSON.parse(readFileSync(join(home, 'holder.json'), 'utf8')).pid).toBe(child.pid)
  const given = readFileSync(`/proc/${child.pid}/environ`, 'latin1').split('\0')
  expect(given).toEqual(expect.arrayContaining(Object.entries(SMALL_MEMORY).map(([name, value]) => `${name}=${value}`)))

  const over = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await over).toEqual([0, null])
})

test('arguments and the exit code pass through', async () => {
  const { fleet, env } = aMachine()
  const child = spawn(fleet, ['project', 'add', 'no such  folder', '--json'], { env, stdio: 'pipe' })
  let said = ''
  child.stderr.on('data', chunk => (said += chunk))
  child.stdout.on('data', chunk => (said += chunk))
  child.stdin.end()
  const [code] = await once(child, 'close')
  expect(code).toBeGreaterThan(0)
  expect(code).not.toBe(9)
  expect(said).toContain('no such  folder')
})

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s to a launcher on an older Node ends the server it started',
  async signal => {
    const home = aFolder()
    const child = spawn(NODE, ['--import', OLD, FLEET, 'up', '--port', '0', '--home', home], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, FLEET_HOME: home },
    })
    let said = ''
    child.stdout.on('data', chunk => (said += chunk))
    await eventually('the server is up', () => said.includes('is up at') || undefined)
    const over = once(child, 'exit')
    child.kill(signal)
    expect(await over).toEqual([0, null])
    await eventually('nobody holds the home', () => !isHeld(home))
  },
)
