import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fleet } from '../cli/testing.ts'
import { STATUSES } from '../domain/records/mission.ts'
import { TOOLS } from '../operations/tools.ts'
import { CLIENTS, type McpClient, SCOPES, type Scope } from './clients.ts'
import { valueAt } from './document.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flotilla-install-'))
  mkdirSync(join(root, 'work/.git'), { recursive: true })
  mkdirSync(join(root, 'work/src'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const environment = () => ({ HOME: root, FLEET_HOME: join(root, 'fleet'), PATH: '' })
const place = () => ({ user: root, project: join(root, 'work'), env: environment() })
const install = (client: string, ...options: string[]) =>
  fleet(['mcp', 'install', client, ...options], { cwd: join(root, 'work/src'), env: environment() })
const fileOf = (client: McpClient, scope: Scope = 'user') => client.files[scope]!(place())
const named = (name: string) => CLIENTS.find(client => client.name === name)!
const read = (file: string) => readFileSync(file, 'utf8')
const write = (file: string, text: string) => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
/** Everything outside the fleet's own home that a client or a person could find. */
const files = () =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(path => !path.startsWith('fleet'))
    .sort()

const places = CLIENTS.flatMap(client =>
  SCOPES.filter(scope => client.files[scope]).map(scope => ({ client, name: client.name, scope })),
)

describe.each(places)('$name for a $scope', ({ client, scope }) => {
  const options = [`--${scope}`, ...('cannot' in client.allow ? [] : ['--allow']), '--skill']

  test('is added, is not added twice, and is removed without a trace', async () => {
    const before = files()
    expect(await install(client.name, ...options)).toMatchObject({ code: 0 })
    const told = files()
    const text = read(fileOf(client, scope))
    expect(valueAt(client.format.read(text), [...client.servers, 'flotilla'])).toMatchObject(
      client.name === 'opencode' ? { type: 'local' } : { args: expect.arrayContaining(['mcp']) },
    )
    expect(told).toContainEqual(expect.stringMatching(/flotilla\/SKILL\.md$/))

    const again = await install(client.name, ...options)
    expect(again.out).toContain('nothing to change')
    expect(read(fileOf(client, scope))).toBe(text)

    expect(await install(client.name, `--${scope}`, '--remove')).toMatchObject({ code: 0 })
    expect(files()).toEqual(before)
  })

  test('shows what it would write and writes nothing', async () => {
    const before = files()
    const { code, out } = await install(client.name, ...options, '--dry-run')
    expect({ code, files: files() }).toEqual({ code: 0, files: before })
    expect(out).toContain(`+++ ${fileOf(client, scope)}`)
    expect(out).toMatch(/^\+.*flotilla/m)
    expect(existsSync(join(root, 'fleet'))).toBe(false)
  })

  test('asks over HTTP with a token that stands in no file', async () => {
    write(join(root, 'fleet/port'), '4242\n')
    write(join(root, 'fleet/token'), 'the-secret')
    expect(await install(client.name, `--${scope}`, '--http', '--tools', 'missions')).toMatchObject({ code: 0 })
    const text = read(fileOf(client, scope))
    expect(text).toContain('http://127.0.0.1:4242/mcp?tools=missions')
    expect(text).toContain('FLEET_TOKEN')
    expect(text).not.toContain('the-secret')
  })
})

describe('what stands in a file already', () => {
  const claude = () => fileOf(named('claude'))
  const BEHIND = '{\n  // mine\n  "mcpServers": {\n    "a": { "command": "x" } // the first\n  },\n  "odd" : 1,\n}\n'

  test('keeps its comments, and the new entry comes behind them', async () => {
    write(claude(), BEHIND)
    await install('claude')
    const args = [process.argv[1], '--home', join(root, 'fleet'), 'mcp']
    expect(read(claude())).toBe(`{
  // mine
  "mcpServers": {
    "a": { "command": "x" }, // the first
    "flotilla": {
      "type": "stdio",
      "command": "${process.execPath}",
      "args": [${args.map(arg => JSON.stringify(arg)).join(', ')}]
    }
  },
  "odd" : 1,
}
`)
    await install('claude', '--remove')
    expect(read(claude())).toBe(BEHIND)
  })

  test('may change elsewhere in the meantime', async () => {
    write(claude(), '{"mcpServers": {}}')
    await install('claude', '--allow')
    write(claude(), `{"new": true, ${read(claude()).slice(1)}`)
    await install('claude', '--remove')
    expect(JSON.parse(read(claude()))).toEqual({ new: true, mcpServers: {} })
  })

  test('may be rewritten by the client', async () => {
    write(claude(), '{"theme": "dark"}')
    await install('claude')
    write(claude(), JSON.stringify(JSON.parse(read(claude()))))
    expect((await install('claude')).out).toContain('nothing to change')
    await install('claude', '--tools', 'workers')
    expect(JSON.parse(read(claude())).mcpServers.flotilla.args).toContain('workers')
    await install('claude', '--remove')
    expect(JSON.parse(read(claude()))).toEqual({ theme: 'dark' })
  })

  test('an entry of that name by someone else is refused, and only --remove takes it out', async () => {
    const text = '{"mcpServers": {"flotilla": {"command": "mine"}, "b": {}}}'
    write(claude(), text)
    const { code, err } = await install('claude')
    expect({ code, err, text: read(claude()) }).toEqual({ code: 4, text, err: expect.stringContaining('already has') })
    await install('claude', '--remove')
    expect(read(claude())).toBe('{"mcpServers": { "b": {}}}')
  })

  test('a permission a person wrote themselves stays when ours goes', async () => {
    const settings = join(root, '.claude/settings.json')
    const text = '{"permissions": {"allow": ["mcp__flotilla__*"]}}'
    write(settings, text)
    await install('claude', '--allow')
    await install('claude', '--remove')
    expect(read(settings)).toBe(text)
  })

  test('running it with other options makes it so', async () => {
    await install('claude', '--allow', '--skill')
    await install('claude', '--tools', 'missions')
    expect(existsSync(join(root, '.claude'))).toBe(false)
    expect(JSON.parse(read(claude())).mcpServers.flotilla.args.slice(-2)).toEqual(['--tools', 'missions'])
  })

  test.each([
    ['claude', '{"mcpServers": {', 'line 1'],
    ['claude', '{"a": 1} trailing', 'something follows'],
    ['claude', '{"mcpServers": []}', 'is not an object'],
    ['claude', '[1]', 'is not an object'],
    ['claude', '{"mcpServers": {}, "mcpServers": {}}', 'twice'],
    ['codex', 'model = ', 'cannot be read'],
    [
      'codex',
      'mcp_servers = { a = { command = "x" } }\n',
      'left as it is. It is written in a way that cannot be added to safely.',
    ],
  ])('%s: %s cannot be added to and is left alone', async (client, text, why) => {
    const file = fileOf(named(client))
    write(file, text)
    const { code, err } = await install(client)
    expect({ code, text: read(file) }).toEqual({ code: 1, text })
    expect(err).toContain(why)
  })

  test('other bytes than text are left alone', async () => {
    mkdirSync(dirname(claude()), { recursive: true })
    writeFileSync(claude(), Buffer.from([0x7b, 0xff, 0x7d]))
    expect((await install('claude')).err).toContain('UTF-8')
  })

  test('a link is followed and the mode is kept', async () => {
    write(join(root, 'dotfiles/claude.json'), '{}\n')
    chmodSync(join(root, 'dotfiles/claude.json'), 0o640)
    symlinkSync('dotfiles/claude.json', claude())
    await install('claude')
    expect(lstatSync(claude()).isSymbolicLink()).toBe(true)
    expect(statSync(join(root, 'dotfiles/claude.json')).mode & 0o777).toBe(0o640)
    expect(read(join(root, 'dotfiles/claude.json'))).toContain('flotilla')
    await install('claude', '--remove')
    expect(read(join(root, 'dotfiles/claude.json'))).toBe('{}\n')
  })

  test('Codex gets a table at the end, also when lines end in two bytes or not at all', async () => {
    const file = fileOf(named('codex'))
    for (const text of ['# mine\r\nmodel = "x"\r\n\r\n[mcp_servers.a]\r\ncommand = "y"\r\n', 'model = "x"', '\ufeff']) {
      write(file, text)
      await install('codex', '--allow')
      expect(read(file).startsWith(text)).toBe(true)
      expect(read(file)).toContain(text.includes('\r') ? ']\r\ndefault_tools_approval_mode = "approve"\r\n' : 'approve')
      await install('codex', '--remove')
      expect(read(file)).toBe(text)
    }
  })

  test('the entry in Codex is removed even if more was added after it', async () => {
    const file = fileOf(named('codex'))
    write(file, 'model = "x"\n')
    await install('codex')
    write(file, `# new\n${read(file)}\n[mcp_servers.flotilla.env]\nA = "1"\n\n[mcp_servers.b]\ncommand = "z"\n`)
    await install('codex', '--remove')
    expect(read(file)).toBe('# new\nmodel = "x"\n\n[mcp_servers.b]\ncommand = "z"\n')
  })

  test('OpenClaw may have a file in JSON5', async () => {
    const file = fileOf(named('openclaw'))
    const text =
      "{\n  agents: { list: ['a', +1, .5, 0x1f], },\n  mcp: { servers: {\n    b: { command: 'it\\'s' }, // b\n  } },\n}\n"
    write(file, text)
    await install('openclaw')
    expect(read(file)).toContain("b: { command: 'it\\'s' }, // b\n    \"flotilla\": {")
    await install('openclaw', '--remove')
    expect(read(file)).toBe(text)
  })

  test('the permission for OpenCode comes last, where it counts', async () => {
    const file = join(root, '.config/opencode/opencode.jsonc')
    write(file, '{ "permission": { "*": "ask" } }')
    await install('opencode', '--allow')
    expect(Object.keys(JSON.parse(read(file)).permission)).toEqual(['*', 'flotilla_*'])
    write(file, '{ "permission": "ask" }')
    expect((await install('opencode', '--allow')).err).toContain('"permission" is not an object')
  })
})

test('what cannot be done is refused with the reason', async () => {
  expect((await install('windsurf', '--allow')).err).toContain('when Cascade first asks')
  expect((await install('windsurf', '--project')).err).toContain('Try: --user')
  expect((await install('claude', '--http')).err).toContain('fleet up --detach')
  expect(await install('claude', '--tools', 'everything')).toMatchObject({ code: 2 })
  expect(await install('claude', '--tools', 'constructor')).toMatchObject({ code: 2 })
  expect(await install('claude', '--user', '--project')).toMatchObject({ code: 2 })
  expect((await install('claude', '--url', 'http://127.0.0.1:1')).err).toContain('needs --http')
  expect(await install('emacs')).toMatchObject({ code: 2 })
})

test('another file than the usual one can be named', async () => {
  await install('cline', '--file', '../settings.json', '--allow', '--tools', 'workers')
  const { flotilla } = JSON.parse(read(join(root, 'work/settings.json'))).mcpServers
  expect(flotilla.autoApprove).toContain('create_worker')
  expect(flotilla.autoApprove).not.toContain('create_mission')
})

test('what is shared in a repository names no path of this machine', async () => {
  await install('claude', '--project')
  expect(JSON.parse(read(join(root, 'work/.mcp.json'))).mcpServers.flotilla).toEqual({
    type: 'stdio',
    command: 'fleet',
    args: ['mcp'],
  })
})

test('fleet is called by its name where it can be', async () => {
  write(join(root, 'bin/fleet'), '#!/bin/sh\n')
  chmodSync(join(root, 'bin/fleet'), 0o755)
  await fleet(['mcp', 'install', 'cursor'], { cwd: root, env: { HOME: root, PATH: join(root, 'bin') } })
  expect(JSON.parse(read(join(root, '.cursor/mcp.json'))).mcpServers.flotilla).toEqual({
    type: 'stdio',
    command: 'fleet',
    args: ['mcp'],
  })
})

test.each(CLIENTS)('the guide for $name shows what is written', async client => {
  write(join(root, 'bin/fleet'), '#!/bin/sh\n')
  chmodSync(join(root, 'bin/fleet'), 0o755)
  const env = { HOME: root, PATH: join(root, 'bin') }
  await fleet(['mcp', 'install', client.name], { cwd: root, env })
  const page = read(join(import.meta.dirname, `../../docs/integrations/${client.name}.md`))
  expect(/^```(?:json|toml)\n(.*?)^```$/ms.exec(page)?.[1]).toBe(read(fileOf(client)))
  for (const scope of SCOPES) {
    const skills = client.skills[scope]?.(place())
    if (skills) expect(page).toContain(skills.replace(join(root, 'work/'), '').replace(root, '~'))
  }
})

test('the skill has the name of its folder and a description that loaders take', async () => {
  const { out } = await fleet(['mcp', 'skill'])
  const [, front] = /^---\n(.*?)\n---\n/s.exec(out)!
  expect(front).toMatch(/^name: flotilla$/m)
  const description = /^description: (.+)$/m.exec(front!)![1]!
  expect(description.length).toBeLessThan(1024)
  expect(description).not.toMatch(/: |[<>]/)
  const named = [...out.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(match => match[1]!)
  const known = [...TOOLS.flatMap(({ name, input }) => [name, ...Object.keys(input.shape)]), ...STATUSES]
  expect(named.filter(name => !known.includes(name))).toEqual([])
  expect(named).toContain('create_mission')
})
