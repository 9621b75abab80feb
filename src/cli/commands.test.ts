import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aRepository } from '../git/testkit.ts'
import { fleet } from './testing.ts'

const MISSION = {
  id: 'abcdefghijkl',
  project_id: 'p',
  title: 'A title',
  status: 'draft',
  result: null,
  waits_for: [],
  warnings: [],
  status_reason: null,
  created_at: '2026-01-01T00:00:00.000Z',
}
const PROJECTS = { projects: [{ id: 'p1p1p1p1p1p1', name: 'ship', path: '/work/ship' }] }

test('every option of a mission reaches its field', async () => {
  const { asked, code } = await fleet(
    [
      'mission',
      'create',
      'Fix it\nall of it',
      '--project',
      'ship',
      '--agent',
      'claude',
      '--model',
      'm',
      '--turns',
      '5',
      '--budget',
      '1.5',
      '--timeout',
      '60',
      '--preset',
      'fix',
      '--tools',
      'Read,Edit',
      '--tools',
      'Bash',
      '--landing',
      'review',
      '--accept',
      'tests pass',
      '--type',
      'fix',
      '--retries',
      '2',
      '--instructions',
      'be brief',
      '--priority',
      '-3',
      '--tag',
      'a,b',
      '--tag',
      'c',
      '--parent',
      'xyz',
      '--after',
      'm1,m2',
      '--start-from',
      'branch',
      '--subdirectory',
      'lib',
    ],
    { answers: { list_projects: PROJECTS, create_mission: MISSION } },
  )
  expect(code).toBe(0)
  expect(asked.at(-1)).toEqual({
    operation: 'create_mission',
    input: {
      project_id: 'ship',
      title: 'Fix it',
      detailed_prompt: 'Fix it\nall of it',
      auto_dispatch: false,
      agent: 'claude',
      model: 'm',
      max_turns: 5,
      max_budget_usd: 1.5,
      timeout_seconds: 60,
      tool_preset: 'fix',
      allowed_tools: ['Read', 'Edit', 'Bash'],
      landing: 'review',
      acceptance_criteria: 'tests pass',
      mission_type: 'fix',
      max_retries: 2,
      append_system_prompt: 'be brief',
      priority: -3,
      tags: ['a', 'b', 'c'],
      parent_mission_id: 'xyz',
      depends_on: ['m1', 'm2'],
      start_from: 'branch',
      subdirectory: 'lib',
    },
  })
})

test('only what was given is changed; an empty value takes a setting back', async () => {
  const { asked } = await fleet(['mission', 'edit', 'abc', '--agent', '', '--turns', '', '--tag', '', '--accept', ''], {
    answers: { update_mission: MISSION },
  })
  expect(asked).toEqual([
    {
      operation: 'update_mission',
      input: { mission_id: 'abc', agent: null, max_turns: null, tags: [], acceptance_criteria: '' },
    },
  ])
})

test('a prompt comes from the input, from a file, or begins with @', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-cli-'))
  try {
    writeFileSync(join(folder, 'prompt.md'), 'from a file\n"$(quoted)"')
    const promptOf = async (argument: string) => {
      const { asked } = await fleet(['mission', 'create', argument, '--project', 'ship'], {
        stdin: 'from the input',
        cwd: folder,
        answers: { list_projects: PROJECTS, create_mission: MISSION },
      })
      return asked.at(-1)?.input.detailed_prompt
    }
    expect(await promptOf('-')).toBe('from the input')
    expect(await promptOf('@prompt.md')).toBe('from a file\n"$(quoted)"')
    expect(await promptOf('@@someone')).toBe('@someone')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('inside a bare repository, that is the project', async () => {
  const { root, path } = await aRepository({ bare: true })
  try {
    const { asked, code } = await fleet(['mission', 'create', 'do it'], {
      cwd: join(path, 'refs'),
      answers: { list_projects: { projects: [] }, create_project: PROJECTS.projects[0], create_mission: MISSION },
    })
    expect(code).toBe(0)
    expect(asked.find(each => each.operation === 'create_project')?.input).toEqual({ path })
    expect(asked.at(-1)?.input).toMatchObject({ subdirectory: '' })
  } finally {
    rmSync(root, { recursive: true })
  }
})

test('run dispatches at once and sees to it that a server runs', async () => {
  const { asked, err } = await fleet(['run', 'do it', '--project', 'ship', '--detach'], {
    answers: { list_projects: PROJECTS, create_mission: { ...MISSION, status: 'queued' } },
  })
  expect(asked.map(each => each.operation)).toEqual(['create_mission', 'wake'])
  expect(asked[0]?.input.auto_dispatch).toBe(true)
  expect(err).toContain('fleet logs -f abcdef')
})

test.each([
  [
    ['mission', 'dispatch', 'abc', '--model', 'm', '--instructions', 'x'],
    'dispatch_mission',
    { mission_id: 'abc', model: 'm', append_system_prompt: 'x' },
  ],
  [['task', 'retry', 'abc', '-m', 'try harder'], 'retry_mission', { mission_id: 'abc', message: 'try harder' }],
  [['mission', 'resume', 'abc', '--turns', '9'], 'resume_mission', { mission_id: 'abc', max_turns: 9 }],
  [['mission', 'reopen', 'abc'], 'reopen_mission', { mission_id: 'abc' }],
  [['mission', 'cancel', 'abc'], 'cancel_mission', { mission_id: 'abc' }],
  [
    ['mission', 'land', 'abc', '--force', '--commit', '0123456789'],
    'land_mission',
    { mission_id: 'abc', expected: '0123456789', force: true },
  ],
  [['mission', 'undo', 'abc'], 'undo_mission', { mission_id: 'abc' }],
])('%j', async (args, operation, input) => {
  const { asked, code, out } = await fleet(args, { answers: { [operation]: MISSION } })
  expect(code).toBe(0)
  expect(asked).toEqual([{ operation, input }])
  expect(out).toContain('abcdef "A title"')
})

test('settings of a project', async () => {
  const project = {
    ...PROJECTS.projects[0],
    checks: [],
    copy_files: [],
    environment: [],
    max_concurrent: null,
    max_turns: null,
    max_budget_usd: null,
    timeout_seconds: null,
    max_retries: null,
  }
  const { asked } = await fleet(
    [
      'project',
      'set',
      'ship',
      '--landing',
      'never',
      '--check',
      'lint=npm run lint',
      '--check',
      'make test',
      '--copy',
      '.env',
      '--no-allow-push',
      '--setup',
      '',
    ],
    {
      answers: { list_projects: PROJECTS, update_project: project },
    },
  )
  expect(asked.at(-1)?.input).toEqual({
    project_id: 'ship',
    landing: 'never',
    copy_files: ['.env'],
    allow_push: false,
    setup_command: null,
    checks: [
      { name: 'lint', command: 'npm run lint' },
      { name: 'make test', command: 'make test' },
    ],
  })
})

test('filters of a list, and the same for programs', async () => {
  const answer = { missions: [MISSION], cursor: 'next' }
  const { asked, out } = await fleet(['mission', 'list', '--status', 'draft', '--tag', 't', '--limit', '5', '--json'], {
    answers: { list_missions: answer },
  })
  expect(asked).toEqual([{ operation: 'list_missions', input: { status: 'draft', tag: 't', limit: 5 } }])
  expect(JSON.parse(out)).toEqual(answer)
})

test('call takes its input in three ways', async () => {
  const input = '{"mission_id":"abc"}'
  for (const args of [[input], ['--json', input], [`--json=${input}`]]) {
    const { asked, out } = await fleet(['call', 'get_mission', ...args], { answers: { get_mission: { id: 'abc' } } })
    expect(asked).toEqual([{ operation: 'get_mission', input: { mission_id: 'abc' } }])
    expect(JSON.parse(out)).toEqual({ id: 'abc' })
  }
})

test('how long ago worktrees are cleaned', async () => {
  const { asked } = await fleet(['clean', '--older-than', '2d', '--dry-run'], {
    answers: { clean: { freed_bytes: 0, worktrees: [] } },
  })
  expect(asked).toEqual([{ operation: 'clean', input: { older_than_hours: 48, dry_run: true } }])
})

test('colours and safe text are for terminals; a pipe gets neither', async () => {
  const hostile = { missions: [{ ...MISSION, status: 'failed', title: 'a\x1b]0;title\x07 b\nc' }] }
  const piped = await fleet(['mission', 'list'], { answers: { list_missions: hostile } })
  expect(piped.out).not.toContain('\x1b')
  const shown = await fleet(['mission', 'list'], { terminal: true, answers: { list_missions: hostile } })
  expect(shown.out).toContain('\x1b[31mfailed\x1b[0m')
  expect(shown.out).toContain('a b ⏎ c')
  expect(shown.out).not.toContain('\x1b]0')
  const plain = await fleet(['mission', 'list'], {
    terminal: true,
    env: { NO_COLOR: '1' },
    answers: { list_missions: hostile },
  })
  expect(plain.out).not.toContain('\x1b')
})

test('a transcript of an agent cannot act on the terminal', async () => {
  const detail = { ...MISSION, status: 'done', session_id: 's1', sessions: [{ id: 's1', number: 1 }] }
  const items = [
    { cursor: '1', kind: 'text', data: { type: 'text', text: 'hello \x1b[2Jworld' } },
    { cursor: '2', kind: 'end', data: { outcome: 'completed', outcome_reason: null } },
  ]
  const given = { answers: { get_mission: detail }, items: { stream_session: items } }
  expect((await fleet(['logs', 'abc'], { ...given, terminal: true })).out).toBe('hello world\n')
  expect((await fleet(['logs', 'abc'], given)).out).toBe('hello \x1b[2Jworld\n')
})

test('a diff goes into a pipe byte for byte', async () => {
  const text = 'diff --git a/x b/x\n@@ -1 +1 @@\n-a\r\n+b\x1b[0m'
  const { out } = await fleet(['diff', 'abc'], { answers: { diff_mission: { text, truncated: false, files: [] } } })
  expect(out).toBe(text)
})

test('following a mission: its sessions one after the other, then how it ended', async () => {
  const landed = {
    ...MISSION,
    status: 'done',
    result: 'landed',
    landed: { commit: '0123456789abcdef', branch: 'main' },
    session_id: 's1',
    sessions: [{ id: 's1', number: 1, agent: 'shell', reason: 'first' }],
    report: { files_changed: [{ path: 'a' }], files_omitted: 0 },
  }
  const items = [
    { cursor: '1', kind: 'text', data: { type: 'text', text: 'working' } },
    { cursor: '2', kind: 'end', data: { outcome: 'completed' } },
  ]
  const { code, out } = await fleet(['run', 'do it', '--project', 'ship'], {
    answers: {
      list_projects: PROJECTS,
      create_mission: { ...MISSION, status: 'queued' },
      list_mission_events: { cursor: '0' },
      get_mission: landed,
    },
    items: { stream_session: items },
  })
  expect(code).toBe(0)
  expect(out).toBe('working\nabcdef "A title" landed as 0123456789 on main (1 file changed)\n')
})

test('inside a session its own server is asked, with its own token', async () => {
  const { createServer } = await import('node:http')
  const seen: unknown[] = []
  const server = createServer((request, response) => {
    seen.push([request.method, request.url, request.headers.authorization])
    response.end('{"missions": []}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as { port: number }
    const { code } = await fleet(['mission', 'list', '--tag', 'a b'], {
      real: true,
      env: { FLEET_URL: `http://127.0.0.1:${port}`, FLEET_TOKEN: 'session.x.y' },
    })
    expect(code).toBe(0)
    expect(seen).toEqual([['GET', '/api/missions?tag=a+b&limit=50', 'Bearer session.x.y']])
  } finally {
    server.close()
  }
})

test('the value of a template variable is given with =, and may be empty', async () => {
  const use = (...more: string[]) =>
    fleet(['template', 'use', 'add', '--project', 'ship', ...more], {
      answers: { list_projects: PROJECTS, create_mission_from_template: MISSION },
    })
  const { asked } = await use('--with', 'what=a=b', '--with', 'how=')
  expect(asked.at(-1)).toMatchObject({ input: { values: { what: 'a=b', how: '' } } })
  const refused = await use('--with', 'what')
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('such as name=value')])
})

test('mission path prints the folder of its last session and nothing else, or says why not', async () => {
  const session = { number: 1, worktree: '/w/one', worktree_kept: true }
  const ask = (...sessions: object[]) =>
    fleet(['mission', 'path', 'abc'], { answers: { get_mission: { ...MISSION, sessions } } })
  const found = await ask(session, { ...session, number: 2, worktree: '/w/two' })
  expect(found).toMatchObject({ code: 0, out: '/w/two\n' })
  const gone = await ask({ ...session, worktree_kept: false })
  expect(gone).toMatchObject({ code: 4, out: '' })
  expect(gone.err).toContain('Mission abcdef has no worktree now.')
})

test.each([
  ['user', 'invite', 'Eve', '--role', 'team-lead@'],
  ['role', 'set', 'Eve', 'team-lead@'],
  ['role', 'set', 'Eve', 'team-lead@ '],
  ['token', 'make', '--name', 'ci', '--role', 'monitor@'],
])('%s %s: a role without the project after its @ is no role in the whole fleet', async (...line) => {
  const { code, err, asked } = await fleet(line, { answers: { list_people: { people: [] } } })
  expect(code).toBe(2)
  expect(err).toMatch(/names no project after the @/)
  expect(asked.filter(({ operation }) => operation !== 'list_people')).toEqual([])
})

test.each(['team', 'mail', 'project'])('fleet %s alone prints its help and nothing else', async group => {
  const { code, out, err } = await fleet([group])
  expect(code).toBe(2)
  expect(`${out}${err}`).toMatch(new RegExp(`^Usage: fleet ${group} `))
  expect(`${out}${err}`).not.toMatch(/outputHelp|Try:/)
})
