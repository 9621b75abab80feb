import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gitText } from '../../src/git/run.ts'
import { isHeld } from '../../src/store/index.ts'
import { ROOT, run } from '../kit/fleet.ts'

test('the demo: eight missions through the real path, all landed, and nothing left running', async () => {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-test-'))
  const env = { PATH: process.env.PATH!, HOME: root, TMPDIR: root }
  const { code, stdout, stderr } = await run(join(ROOT, 'bin/fleet.js'), ['demo'], { cwd: root, env })
  const folder = /delete (\S+) when/.exec(stdout)?.[1]
  try {
    expect(`${stdout}${stderr}`).toContain('All eight landed.')
    expect(code).toBe(0)
    expect(stdout).toMatch(/requeued +Hang the rudder/)
    expect(stdout).toMatch(/conflict +Paint the hull white/)
    const subjects = await gitText(join(folder!, 'ship'), ['log', '--format=%s', 'main'])
    expect(subjects.split('\n')).toHaveLength(9)
    expect(await gitText(join(folder!, 'ship'), ['show', 'main:ship.txt'])).toContain('blue with a white stripe')
    expect(await gitText(join(folder!, 'ship'), ['status', '--porcelain'])).toBe('')
    expect(isHeld(join(folder!, 'home'))).toBe(false)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
