import { expect, test } from 'vitest'
import { claudeRemote } from './claude/hands.ts'
import { agentsOf } from './index.ts'

const all = agentsOf('/nowhere').all
const CONVERSATION = '147f5b50-134b-4afb-8cfc-7ed27cb5b888'

test('only agents that can be taken over have a program for it', () => {
  for (const agent of all) {
    expect(agent.can.takeOver, agent.name).toBe(agent.interactive !== undefined)
    expect(agent.can.remoteControl, agent.name).toBe(agent.remote !== undefined)
  }
})

test.each([
  ['claude', ['claude', `--resume=${CONVERSATION}`, '--model=m']],
  [
    'codex',
    ['codex', 'resume', '--ask-for-approval=on-request', '--sandbox=workspace-write', '--model=m', '--', CONVERSATION],
  ],
  ['gemini', ['gemini', `--resume=${CONVERSATION}`, '--model=m']],
  ['opencode', ['opencode', `--session=${CONVERSATION}`, '--model=m']],
])('%s opens a conversation with its own program', (name, argv) => {
  const { interactive } = all.find(agent => agent.name === name)!
  expect(interactive!({ conversation: CONVERSATION, model: 'm', preset: 'full' })).toEqual({ argv, env: {} })
})

test('codex in the hands of a person changes nothing without asking where the mission was only to look', () => {
  const { interactive } = all.find(({ name }) => name === 'codex')!
  const { argv } = interactive!({ conversation: CONVERSATION, model: null, preset: 'review' })
  expect(argv).toEqual(expect.arrayContaining(['--ask-for-approval=on-request', '--sandbox=read-only']))
})

test('the link of remote control is that of a session, and what it says of signing in is understood', () => {
  expect(claudeRemote.link('see https://claude.ai/code')).toBeUndefined()
  expect(claudeRemote.link('at https://claude.ai/code\nhttps://claude.ai/code/session_1?a=b\n')).toBe(
    'https://claude.ai/code/session_1?a=b',
  )
  expect(claudeRemote.link('https://claude.ai.example.com/code/1')).toBeUndefined()
  expect(claudeRemote.refusal('Error: You must be logged in to use Remote Control.')).toContain('claude auth login')
  expect(claudeRemote.refusal('something else')).toBeUndefined()
})
