import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '../../src/domain/ids.ts'
import { Session } from '../../src/domain/records/session.ts'
import { current, put } from '../../src/fleet/records.ts'
import type { TestFleet } from './fleet.ts'

interface Written {
  agent: string
  /** The output of the agent, line by line. */
  stdout: Iterable<string>
}

/** A mission with one ended session that printed this: for transcripts that no test agent would print. */
export async function aWrittenSession(
  { fleet, call }: TestFleet,
  project: { id: string },
  { agent, stdout }: Written,
): Promise<{ mission: string; session: string }> {
  const { id } = await call<{ id: string }>('create_mission', {
    project_id: project.id,
    title: 'a long talk',
    prompt: 'Talk.',
  })
  const now = fleet.now()
  const session = Session.parse({
    id: newId(),
    mission_id: id,
    project_id: project.id,
    number: 1,
    reason: 'first',
    agent,
    model: null,
    status: 'ended',
    outcome: 'completed',
    created_at: now,
    started_at: now,
    ended_at: now,
  })
  const directory = join(fleet.home.session(session.id), 'agent-1')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'stdout'), [...stdout, ''].join('\n'))
  const { value, version } = await current(fleet, 'missions', id)
  const mission = {
    ...value,
    status: 'done' as const,
    result: 'no_changes' as const,
    session_id: session.id,
    sessions: 1,
  }
  await fleet.store.commit({ changes: [put('sessions', session, 'absent'), put('missions', mission, version)] })
  return { mission: id, session: session.id }
}

/** One turn as Claude Code prints it: it says something, uses a tool, and the tool answers. */
export function* claudeTurn(
  n: number,
  { text = `Number ${n}.`, output = `exit ${n}`, failed = false } = {},
): Generator<string> {
  const content = [
    { type: 'text', text },
    { type: 'tool_use', id: `call-${n}`, name: 'Bash', input: { command: `test ${n} -lt 50` } },
  ]
  yield JSON.stringify({ type: 'assistant', message: { id: `msg-${n}`, content } })
  const result = { type: 'tool_result', tool_use_id: `call-${n}`, content: output, is_error: failed }
  yield JSON.stringify({ type: 'user', message: { content: [result] } })
}
