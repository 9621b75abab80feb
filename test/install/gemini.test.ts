import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { aToldClient, type ToldClient } from '../kit/told-client.ts'

const QUIET = { GEMINI_API_KEY: 'test-key', GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true' }
const MINE = '{\n  // mine\n  "telemetry": {"enabled": false},\n  "general": {"enableAutoUpdate": false}\n}\n'

let gemini: ToldClient
afterEach(() => gemini.remove())

test('the real Gemini CLI knows the fleet, from a file with comments', async () => {
  gemini = aToldClient('gemini', QUIET)
  const settings = join(gemini.root, '.gemini/settings.json')
  mkdirSync(join(gemini.root, '.gemini'))
  writeFileSync(settings, MINE)
  await gemini.fleet('mcp', 'install', 'gemini', '--allow', '--skill')
  const { stdout, stderr } = await gemini.run('mcp', 'list')
  expect(stdout + stderr).toMatch(/flotilla: fleet mcp \(stdio\) - Connected/)
  const skills = await gemini.run('skills', 'list')
  expect(skills.stdout + skills.stderr).toContain('flotilla')

  await gemini.fleet('mcp', 'install', 'gemini', '--remove')
  expect(readFileSync(settings, 'utf8')).toBe(MINE)
})
