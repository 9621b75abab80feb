import { expect, test } from 'vitest'
import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import { TOOL_PRESETS } from '../../domain/records/project.ts'
import type { LaunchRequest } from '../contract.ts'
import { CODEX_PRESETS, launchCodex, openingOf } from './launch.ts'

const SECRET = 'Bearer of-this-session'
const REQUEST: LaunchRequest = {
  reason: 'first',
  prompt: 'The whole prompt.',
  script: '',
  promptFile: '/s/prompt',
  images: [],
  directory: '/s',
  workingDirectory: '/home/w',
  model: null,
  effort: null,
  preset: 'full',
  allowedTools: null,
  maxTurns: null,
  maxBudgetUsd: null,
  systemPrompt: '',
  conversation: 'c',
  resumes: null,
  forks: false,
  approvals: 'deny',
  mcpServers: {},
  environment: { HOME: '/h', PATH: '/bin', CODEX_HOME: '/c', AWS_SECRET_ACCESS_KEY: 'canary' },
}
const launch = (more: Partial<LaunchRequest> = {}) => launchCodex({ ...REQUEST, ...more })
const params = (more: Partial<LaunchRequest> = {}) => openingOf({ ...REQUEST, ...more }).params

test('prompt, instructions and tokens are in no argument', () => {
  const mcpServers = { fleet: { url: 'http://127.0.0.1:1/mcp', headers: { authorization: SECRET } } }
  const { argv, files, stdin } = launch({ mcpServers, systemPrompt: 'Mind this.' })
  expect(argv.join(' ')).not.toMatch(/whole prompt|Mind this|of-this-session/)
  expect(files).toEqual({})
  expect(stdin).toBe('fifo')
  expect(params({ mcpServers, systemPrompt: 'Mind this.', model: 'gpt-5.5' })).toMatchObject({
    model: 'gpt-5.5',
    developerInstructions: 'Mind this.',
    config: { mcp_servers: { fleet: { url: 'http://127.0.0.1:1/mcp', http_headers: { authorization: SECRET } } } },
  })
})

test('it does not wait for ever, stay behind or report to anyone', () => {
  const flags = launch().argv.join(' ')
  for (const name of ['unbounded_connection_retries', 'daemon_auto_start', 'plugins', 'apps', 'multi_agent', 'goals'])
    expect(flags).toContain(`features.${name}=false`)
  expect(flags).toContain('analytics.enabled=false')
})

test('only what is named of the environment reaches it', () => {
  expect(launch().env).toEqual({
    ...{ HOME: '/h', PATH: '/bin', CODEX_HOME: '/c' },
    RUST_LOG: 'error,codex_otel.trace_safe=info,codex_core::responses_retry=warn',
  })
})

test('a conversation is begun, gone on with or copied', () => {
  expect(openingOf(REQUEST).method).toBe('thread/start')
  expect(params()).not.toHaveProperty('cwd')
  const resumed = openingOf({ ...REQUEST, resumes: 't' })
  expect(resumed).toMatchObject({ method: 'thread/resume', params: { threadId: 't', cwd: '/home/w' } })
  expect(openingOf({ ...REQUEST, resumes: 't', forks: true }).method).toBe('thread/fork')
})

test('a model goes by its full name; one that is not known is left to the client', () => {
  expect(params({ model: 'sol' }).model).toBe('gpt-6.1-sol')
  expect(params({ model: 'gpt-5.5' }).model).toBe('gpt-5.5')
  expect(params({ model: 'of-tomorrow' }).model).toBe('of-tomorrow')
  expect(params()).not.toHaveProperty('model')
})

test('each preset has its sandbox', () => {
  expect(params()).toMatchObject({ sandbox: 'danger-full-access', approvalPolicy: 'never' })
  for (const preset of ['implement', 'fix'] as const) {
    const rules = { sandbox: 'workspace-write', approvalPolicy: 'never', config: { web_search: 'disabled' } }
    expect(params({ preset })).toMatchObject(rules)
  }
  for (const preset of ['review', 'explore'] as const) {
    const profile = { extends: ':read-only', filesystem: { '/s': 'deny' } }
    const untrusted = { trust_level: 'untrusted' }
    expect(params({ preset })).toMatchObject({
      approvalPolicy: 'never',
      config: {
        default_permissions: 'flotilla',
        permissions: { flotilla: profile },
        projects: { '/': untrusted, '/home': untrusted, '/home/w': untrusted },
        web_search: 'disabled',
      },
    })
    expect(params({ preset })).not.toHaveProperty('sandbox')
    expect(launch({ preset }).argv).toContain('--config=features.hooks=false')
  }
})

test('where a person can be asked, it asks', () => {
  const asking = { approvals: 'ask', preset: 'review' } as const
  expect(params(asking)).toMatchObject({ sandbox: 'read-only', approvalPolicy: 'on-request' })
  expect(launch(asking).argv).toContain('--config=features.default_mode_request_user_input=true')
  expect(launch().argv).toContain('--config=features.default_mode_request_user_input=false')
})

test('what it cannot be held to is refused, with what would be right', () => {
  for (const preset of TOOL_PRESETS.filter(name => !CODEX_PRESETS.includes(name)))
    expect(() => launch({ preset })).toThrow(expect.objectContaining({ hint: expect.stringContaining('claude') }))
  expect(() => launch({ preset: 'test' })).toThrow(NotAllowed)
  expect(() => launch({ allowedTools: ['Read'] })).toThrow(NotAllowed)
  expect(() => launch({ mcpServers: { 'a b': { url: '', headers: {} } } })).toThrow(InvalidInput)
})
