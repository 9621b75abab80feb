import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ROOT, run } from '../kit/fleet.ts'

function aPerson(env: Record<string, string> = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-test-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return {
    root,
    fleet: (...args: string[]) =>
      run(join(ROOT, 'bin/fleet.js'), ['skills', ...args], {
        cwd: root,
        env: { PATH: process.env.PATH!, HOME: root, TMPDIR: root, ...env },
      }),
  }
}

test('skills are shown before they are written, and a changed one is not removed without saying so', async () => {
  const { root, fleet } = aPerson()
  const file = join(root, '.claude/skills/flotilla-monitoring/SKILL.md')
  const unasked = await fleet('install', 'claude')
  expect([unasked.code, unasked.stdout]).toEqual([4, expect.stringContaining(`new    ${file} (`)])
  expect(unasked.stderr).toContain('nobody is here to agree')
  expect(existsSync(join(root, '.claude'))).toBe(false)

  expect((await fleet('install', 'claude', '--yes')).stdout).toContain('Wrote 6 files.')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, `${text}Mine.\n`)
  const removed = await fleet('remove', '--yes')
  expect(removed.stdout).toContain('Removed 5 files.')
  expect(removed.stderr).toContain(`${file} was written or changed by somebody else, so it stays as it is.`)
  expect(readFileSync(file, 'utf8')).toBe(`${text}Mine.\n`)
})

test('a folder that cannot be written is named, and nothing is there afterwards', async () => {
  const { fleet } = aPerson({ CLAUDE_CONFIG_DIR: '/sys' })
  const { code, stderr } = await fleet('install', 'claude', '--yes')
  expect(code).toBe(1)
  expect(stderr).toMatch(/\/sys\/skills\/flotilla-commands\/SKILL\.md cannot be written \(E\w+\)\./)
  expect((await fleet('remove', '--yes')).stdout).toContain('There is nothing to change.')
})
