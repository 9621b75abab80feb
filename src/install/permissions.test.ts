import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fleet } from '../cli/testing.ts'
import { SETUP_CLIENTS } from './names.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flotilla-setup-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const run = (...args: string[]) =>
  fleet(args, { cwd: root, env: { HOME: root, FLEET_HOME: join(root, 'fleet'), PATH: '' } })
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const write = (file: string, text: string) => {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}
const files = () =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(path => !path.startsWith('fleet'))
    .sort()

const CASES = [
  {
    client: 'claude',
    file: '.claude/settings.json',
    mine: '{\n\t// mine\n\t"permissions": { "deny": ["Bash(rm *)"], "allow": [ "Bash(ls *)" ] },\n}\n',
    rule: '"allow": [ "Bash(ls *)", "Bash(fleet *)" ]',
  },
  {
    client: 'opencode',
    file: '.config/opencode/opencode.json',
    mine: '{ "permission": { "bash": { "*": "ask" } }, "theme": "x" }',
    rule: '"*": "ask", "fleet *": "allow"',
  },
  {
    client: 'codex',
    file: '.codex/rules/flotilla.rules',
    rule: 'prefix_rule(pattern = ["fleet"], decision = "allow")',
  },
  { client: 'gemini', file: '.gemini/policies/flotilla.toml', rule: 'commandPrefix = "fleet"' },
]

test.each(CASES)('$client gets one rule, and gives back every byte', async ({ client, file, mine, rule }) => {
  if (mine) write(file, mine)
  const before = files()
  const shown = await run('setup', client, '--dry-run')
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining(`+++ ${join(root, file)}`) })
  expect(files()).toEqual(before)

  expect(await run('setup', client)).toMatchObject({ code: 4, err: expect.stringContaining('nobody is here to agree') })
  expect(files()).toEqual(before)

  expect(await run('setup', client, '--yes')).toMatchObject({ code: 0 })
  expect(read(file)).toContain(rule)
  expect((await run('setup', client, '--yes')).out).toContain('nothing to change')

  await run('setup', '--remove', '--yes')
  expect(files()).toEqual(before)
  if (mine) expect(read(file)).toBe(mine)
})

test.each([
  ['first', ['mcp install claude --remove', 'setup claude --remove --yes']],
  ['last', ['setup claude --remove --yes', 'mcp install claude --remove']],
])('it and the permission for MCP tools do not disturb each other, whichever is removed %s', async (_, removals) => {
  const { file, mine } = CASES[0]!
  write(file, mine!)
  await run('mcp', 'install', 'claude', '--allow')
  await run('setup', 'claude', '--yes')
  await run('mcp', 'install', 'claude', '--allow', '--tools', 'missions')
  expect(read(file)).toMatch(/mcp__flotilla__\*.*Bash\(fleet \*\)|Bash\(fleet \*\).*mcp__flotilla__\*/s)
  await run(...removals[0]!.split(' '))
  expect(read(file)).toMatch(/flotilla|fleet/)
  await run(...removals[1]!.split(' '))
  expect(read(file)).toBe(mine)
})

test('a rule that somebody took out is not put back by another command, and a changed file stays', async () => {
  await run('setup', '--yes', ...SETUP_CLIENTS)
  write('.claude/settings.json', '{"permissions":{"allow":[]}}')
  await run('mcp', 'install', 'claude', '--allow')
  expect(read('.claude/settings.json')).not.toContain('Bash')

  write('.codex/rules/flotilla.rules', `${read('.codex/rules/flotilla.rules')}# mine\n`)
  expect((await run('setup', '--yes', 'codex')).err).toContain('changed or written by someone else')
  expect((await run('setup', '--yes', '--remove')).err).toContain('so it stays')
  expect(read('.codex/rules/flotilla.rules')).toContain('# mine')
})

test('without a name it is for the clients that are here', async () => {
  expect(await run('setup', '--yes')).toMatchObject({ code: 4, err: expect.stringContaining('claude|codex') })
  expect(await run('setup', 'emacs')).toMatchObject({ code: 2 })
})
