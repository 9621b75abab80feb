import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { NODE, ROOT } from '../kit/fleet.ts'

test('a reader who goes away early is no fault: fleet --help | head', async () => {
  const child = spawn(NODE, [join(ROOT, 'bin/fleet.js'), '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  expect(stderr).toBe('')
  expect(code).toBe(0)
})
