import { expect, test } from 'vitest'
import { asOurs } from './devfleet.ts'

test('what is written in our way passes unchanged', () => {
  for (const [operation, request] of [
    ['create_mission', { title: 'x', allowed_tools: ['Read'], mission_type: 'fix', auto_dispatch: true }],
    ['dispatch_mission', { model: null, allowed_tools: null, tool_preset: 'review' }],
    ['list_missions', { status: ['done', 'failed'], limit: 5 }],
    ['list_sessions', { live: true }],
    ['add_mcp_server', { name: 'docs', url: 'https://example.com/' }],
    ['create_project', { name: 'x', path: '/x', instructions: 'Be brief.' }],
    ['pause', { project_id: 'p' }],
  ] as const)
    expect(asOurs(operation, request)).toEqual(request)
})

test('tools are a list, a list as JSON, a list with commas or the name of a preset', () => {
  const told = (allowed_tools: unknown) => asOurs('dispatch_mission', { allowed_tools })
  expect(told('["Read","Bash(git diff *)"]')).toEqual({ allowed_tools: ['Read', 'Bash(git diff *)'] })
  expect(told('Read, Grep')).toEqual({ allowed_tools: ['Read', 'Grep'] })
  expect(told('review')).toEqual({ tool_preset: 'review' })
  expect(told('')).toEqual({})
  expect(() => told('[Read')).toThrow('allowed_tools: must be a list of tools')
})

test('a request for a fork is refused, and empty fields are left out', () => {
  expect(asOurs('resume_mission', { fork_session: false, append_system_prompt: null })).toEqual({})
  expect(() => asOurs('dispatch_mission', { fork_session: true })).toThrow('fork_session: a fork is a separate mission')
  const given = { auto_dispatch: 0, schedule_cron: '', callback_url: null, auto_retry: true, mission_type: 'full' }
  expect(asOurs('create_mission', given)).toEqual({ auto_dispatch: false, tool_preset: 'full' })
  expect(asOurs('create_mission', { auto_retry: false })).toEqual({ max_retries: 0 })
  expect(asOurs('create_project', { owner: '', state: 'active', system_prompt: 'x' })).toEqual({ instructions: 'x' })
  expect(asOurs('create_project', { owner: 'me', state: 'archived' })).toEqual({ owner: 'me', state: 'archived' })
})

test('statuses are words of ours', () => {
  expect(asOurs('list_missions', { status: 'completed' })).toEqual({ status: 'done' })
  expect(asOurs('list_missions', { status: ['succeeded', 'failed'] })).toEqual({ status: ['done', 'failed'] })
  expect(asOurs('list_sessions', { status: 'running' })).toEqual({ live: true })
  expect(asOurs('list_sessions', { status: 'failed', mission_id: 'm' })).toEqual({ outcome: 'failed', mission_id: 'm' })
})

test('an MCP server is told by its name and its config', () => {
  const told = (server_type: string, config: object) =>
    asOurs('add_mcp_server', { project_id: 'p', server_name: 'docs', server_type, config })
  expect(told('stdio', { command: 'npx', args: ['docs'], env: { A: '1' } })).toEqual({
    project_id: 'p',
    name: 'docs',
    command: ['npx', 'docs'],
    env: { A: '1' },
  })
  expect(told('http', { url: 'https://example.com/mcp', headers: {} })).toEqual({
    project_id: 'p',
    name: 'docs',
    url: 'https://example.com/mcp',
    headers: {},
  })
  expect(() => told('sse', { url: 'https://example.com/sse' })).toThrow('server_type')
})
