import { expect, test } from 'vitest'
import { aSession } from '../domain/samples.testkit.ts'
import type { Caller } from './operation.ts'
import { twoTeams } from './teams.testkit.ts'

const ENDED = { status: 'ended', agent: 'claude', conversation: 'c1', worktree_kept: false } as const

async function aCrew() {
  const crew = await twoTeams()
  const { save, ask, owner, one } = crew
  await save('sessions', aSession({ ...ENDED, id: 'told', project_id: 'p1' }))
  await save('sessions', aSession({ ...ENDED, id: 'live', project_id: 'p1', status: 'running' }))
  await save('sessions', aSession({ ...ENDED, id: 'mute', project_id: 'p1', conversation: null }))
  await save('sessions', aSession({ ...ENDED, id: 'copy', project_id: 'p1', agent: 'gemini' }))
  await save('sessions', aSession({ ...ENDED, id: 'theirs', project_id: 'p2' }))
  const add = (more: object, caller: Caller = owner) =>
    ask<{ agent: string; continues: string | null }>(caller, 'add_member', { team_id: one.id, handle: 'zoe', ...more })
  return { ...crew, add }
}

test('a new member goes on with the conversation of a session of its project, with the same client', async () => {
  const { add } = await aCrew()
  expect(await add({ conversation: 'told' })).toMatchObject({ agent: 'claude', continues: 'told' })
})

test.each([
  [{ conversation: 'theirs' }, /conversation: is no session of one: theirs/],
  [{ conversation: 'nowhere' }, /conversation: is no session of one: nowhere/],
  [{ conversation: 'live' }, /conversation: of session live still goes on/],
  [{ conversation: 'mute' }, /conversation: was not begun in session mute/],
  [{ conversation: 'copy' }, /conversation: cannot be copied by Gemini CLI/],
  [{ conversation: 'told', agent: 'codex' }, /conversation: is one of Claude Code, and Codex cannot go on with it/],
  [{ conversation: 'told', placement: 'tmux' }, /conversation: is for members without a terminal/],
])('%j is refused', async (more, words) => {
  const { add } = await aCrew()
  await expect(add(more)).rejects.toThrow(words)
})

test('an agent names no conversation, and a person only one that they may have work done with', async () => {
  const { add, one } = await aCrew()
  await expect(add({ conversation: 'told' }, one.lea)).rejects.toThrow(/token of a session may not use add_member/)
  const lead = (role: 'team-lead' | 'worker', project_id: string): Caller => ({
    ...{ kind: 'person', id: 'ada', name: 'Ada', limit: null },
    grants: [{ role, project_id }],
  })
  await expect(add({ conversation: 'told' }, lead('worker', 'p1'))).rejects.toThrow(/teams.manage/)
  expect(await add({ conversation: 'told' }, lead('team-lead', 'p1'))).toMatchObject({ continues: 'told' })
})
