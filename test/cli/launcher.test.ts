import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isHeld } from '../../src/store/index.ts'
import { eventually, NODE, ROOT } from '../kit/fleet.ts'

/** Makes the launcher believe that it runs on a Node that is too old, like the one of many systems. */
const OLD = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.0.0'}})`

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s to a launcher on an older Node ends the server it started',
  async signal => {
    const home = mkdtempSync(join(tmpdir(), 'flotilla-launcher-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
    const child = spawn(NODE, ['--import', OLD, join(ROOT, 'bin/fleet.js'), 'up', '--port', '0', '--home', home], {
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
