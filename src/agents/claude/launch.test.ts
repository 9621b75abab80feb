import { expect, test } from 'vitest'
import { InvalidInput } from '../../domain/errors.ts'
import { TOOL_PRESETS } from '../../domain/records/project.ts'
import type { LaunchRequest } from '../contract.ts'
import { launchClaude } from './launch.ts'

const CONVERSATION = '5b1c1f7e-6f0a-4a3e-9c57-0a2f3a1d9b11'

function request(more: Partial<LaunchRequest> = {}): LaunchRequest {
  return {
    reason: 'first',
    prompt: 'Do it.',
    script: 'Do it.',
    promptFile: '/session/prompt',
    images: [],
    directory: '/session',
    workingDirectory: '/work',
    model: null,
    effort: null,
    preset: 'full',
    allowedTools: null,
    maxTurns: null,
    maxBudgetUsd: null,
    systemPrompt: '',
    conversation: CONVERSATION,
    resumes: null,
    forks: false,
    approvals: 'deny',
    mcpServers: {},
    environment: {},
    ...more,
  }
}

/** The values a flag is given, in order. */
function values(flag: string, more: Partial<LaunchRequest> = {}): string[] {
  const start = `--${flag}=`
  return launchClaude(request(more))
    .argv.filter(arg => arg.startsWith(start))
    .map(arg => arg.slice(start.length))
}

test('a launch is pure', () => {
  expect(launchClaude(request())).toEqual(launchClaude(request()))
})

test('the prompt, the instructions and what servers are told travel outside the command line', () => {
  const secret = 'canary'.repeat(40_000)
  const launch = launchClaude(
    request({
      prompt: `"quoted" ${secret}`,
      systemPrompt: secret,
      mcpServers: { fleet: { url: 'http://127.0.0.1:1/mcp', headers: { authorization: `Bearer ${secret}` } } },
    }),
  )
  expect(launch.argv.join(' ')).not.toContain('canary')
  expect(launch.stdin).toBe('fifo')
  expect(launch.argv).toContain('--append-system-prompt-file=/session/system-prompt')
  expect(launch.files['system-prompt']).toBe(secret)
  expect(launch.argv).toContain('--mcp-config=/session/mcp.json')
  expect(JSON.parse(launch.files['mcp.json'] as string).mcpServers.fleet).toEqual({
    type: 'http',
    url: 'http://127.0.0.1:1/mcp',
    headers: { authorization: `Bearer ${secret}` },
  })
})

test('a new conversation gets its id, a resumed one keeps it', () => {
  expect(values('session-id')).toEqual([CONVERSATION])
  expect(values('resume')).toEqual([])
  expect(values('resume', { resumes: CONVERSATION })).toEqual([CONVERSATION])
  expect(values('session-id', { resumes: CONVERSATION })).toEqual([])
  expect(values('session-id', { conversation: 'abc' })).toEqual(values('session-id', { conversation: 'abc' }))
  expect(values('session-id', { conversation: 'abc' })[0]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})

test('model and limits are passed on where there are some', () => {
  expect(values('model', { model: 'opus' })).toEqual(['opus'])
  expect(values('max-turns', { maxTurns: 7 })).toEqual(['7'])
  expect(values('max-budget-usd', { maxBudgetUsd: 1.5 })).toEqual(['1.5'])
  for (const flag of ['model', 'max-turns', 'max-budget-usd']) expect(values(flag)).toEqual([])
})

test('nothing given can become a flag of its own', () => {
  const hostile = '--dangerously-skip-permissions'
  const { argv } = launchClaude(request({ model: hostile, resumes: hostile, conversation: hostile }))
  expect(argv).not.toContain(hostile)
  for (const rule of [hostile, 'Read Bash', 'Read,Bash', 'Read(a) Bash(rm:*)', 'Bash(\n)', '']) {
    expect(() => launchClaude(request({ allowedTools: [rule] })), rule).toThrow(InvalidInput)
  }
  const server = { url: 'http://127.0.0.1:1', headers: {} }
  expect(() => launchClaude(request({ mcpServers: { 'a Bash': server } }))).toThrow(InvalidInput)
})

test('no preset asks or skips the rules, and all load only the servers given', () => {
  for (const preset of TOOL_PRESETS) {
    expect(values('permission-mode', { preset })).toEqual(['dontAsk'])
    expect(launchClaude(request({ preset })).argv).toContain('--strict-mcp-config')
    expect(values('disallowedTools', { preset })).toEqual(
      expect.arrayContaining(['EnterWorktree', 'CronCreate', 'SendMessage']),
    )
  }
})

test.each([
  ['implement', 'Read,Write,Edit,Bash,Grep,Glob'],
  ['fix', 'Read,Write,Edit,Bash,Grep,Glob'],
  ['review', 'Read,Grep,Glob,Bash'],
  ['explore', 'Read,Grep,Glob,Bash'],
  ['test', 'Read,Edit,Grep,Glob,Bash'],
] as const)('under %s there are no tools but %s', (preset, tools) => {
  expect(values('tools', { preset })).toEqual([tools])
})

test.each(['review', 'test', 'explore'] as const)(
  'under %s the shell runs named commands only and the repository adds nothing',
  preset => {
    const allowed = values('allowedTools', { preset })
    expect(allowed).not.toContain('Bash')
    expect(allowed.filter(rule => rule.startsWith('Bash')).length).toBeGreaterThan(0)
    expect(values('setting-sources', { preset })).toEqual([''])
    expect(values('disallowedTools', { preset })).toContain('Bash(git * --output*)')
  },
)

test('review looks at changes and nothing else', () => {
  expect(values('allowedTools', { preset: 'review' })).toEqual([
    'Read',
    'Grep',
    'Glob',
    'Bash(git diff:*)',
    'Bash(git log:*)',
  ])
})

test('full and implement leave the shell free and read the settings of the repository', () => {
  for (const preset of ['full', 'implement'] as const) {
    expect(values('allowedTools', { preset })).toContain('Bash')
    expect(values('setting-sources', { preset })).toEqual([])
  }
  expect(values('tools')).toEqual([])
  expect(values('allowedTools')).toEqual(expect.arrayContaining(['WebFetch', 'WebSearch', 'Task']))
})

test('a list of tools takes the place of the preset', () => {
  const allowedTools = ['Read', 'Bash(make:*)', 'Bash(npm test:*)', 'mcp__lab__echo']
  expect(values('allowedTools', { allowedTools })).toEqual(allowedTools)
  expect(values('tools', { allowedTools })).toEqual(['Read,Bash'])
  expect(values('tools', { allowedTools: [] })).toEqual([''])
  expect(values('setting-sources', { allowedTools })).toEqual([''])
})

test('tools of the servers given are allowed under every preset', () => {
  const mcpServers = { fleet: { url: 'http://127.0.0.1:1', headers: {} } }
  for (const preset of TOOL_PRESETS) expect(values('allowedTools', { preset, mcpServers })).toContain('mcp__fleet')
})

test('only what is named of the environment reaches the client', () => {
  const environment = {
    HOME: '/home/me',
    PATH: '/bin',
    ANTHROPIC_API_KEY: 'key',
    SECRET: 'x',
    CLAUDECODE: '1',
    FLEET_TOKEN: 'x',
  }
  expect(launchClaude(request({ environment })).env).toEqual({
    HOME: '/home/me',
    PATH: '/bin',
    ANTHROPIC_API_KEY: 'key',
    DISABLE_AUTOUPDATER: '1',
  })
})
