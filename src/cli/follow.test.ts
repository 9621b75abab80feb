import { expect, test } from 'vitest'
import type { Item } from '../operations/operation.ts'
import { EXIT } from './exit.ts'
import { fleet } from './testing.ts'

const RUNNING = {
  id: 'abcdefghijkl',
  project_id: 'p',
  title: 'A title',
  status: 'running',
  result: null,
  waits_for: [],
  status_reason: null,
  landed: null,
  report: null,
  session_id: 's1',
  sessions: [{ id: 's1', number: 1, agent: 'shell', reason: 'first' }],
}

/** A session that prints one line, gets Ctrl-C, and continues until it is detached or cancelled. */
function interrupted(answer: string, terminal: boolean) {
  const cancelled = Promise.withResolvers<void>()
  let status = 'running'
  async function* session(signal: AbortSignal): AsyncIterable<Item<unknown>> {
    yield { cursor: '1', kind: 'text', data: { type: 'text', text: 'working' } }
    const left = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    process.emit('SIGINT')
    await Promise.race([left, cancelled.promise])
    yield { cursor: '2', kind: 'end', data: { outcome: 'cancelled', outcome_reason: null } }
  }
  return fleet(['run', 'x', '--project', 'p'], {
    terminal,
    stdin: answer,
    env: { NO_COLOR: '1' },
    answers: {
      list_projects: { projects: [] },
      create_mission: RUNNING,
      list_mission_events: { cursor: '0' },
      get_mission: () => ({ ...RUNNING, status }),
      cancel_mission: () => {
        status = 'cancelled'
        cancelled.resolve()
      },
    },
    items: { stream_session: session },
  })
}

test('Ctrl-C, then cancel: it is cancelled and followed to its end', async () => {
  const { code, asked, err, out } = await interrupted('c\n', true)
  expect(err).toContain('Detach and let it continue (d), cancel it (c)')
  expect(asked.some(each => each.operation === 'cancel_mission')).toBe(true)
  expect(out).toContain('cancelled')
  expect(code).toBe(EXIT.cancelled)
})

test('Ctrl-C, then detach: it goes on', async () => {
  const { code, asked, err } = await interrupted('d\n', true)
  expect(asked.some(each => each.operation === 'cancel_mission')).toBe(false)
  expect(err).toContain('Detached; mission abcdef continues.')
  expect(code).toBe(EXIT.done)
})

test('without a terminal there is nobody to ask: it detaches', async () => {
  const { code, asked, err } = await interrupted('', false)
  expect(asked.some(each => each.operation === 'cancel_mission')).toBe(false)
  expect(err).toContain('Detached')
  expect(code).toBe(EXIT.done)
})

test('what an earlier session printed is not told again', async () => {
  const before = { ...RUNNING, status: 'queued', session_id: 's1' }
  const after = {
    ...RUNNING,
    status: 'failed',
    session_id: 's2',
    sessions: [...RUNNING.sessions, { id: 's2', number: 2, agent: 'shell', reason: 'retry' }],
  }
  const { code, asked } = await fleet(['mission', 'retry', 'abc', '--follow'], {
    answers: { retry_mission: before, list_mission_events: { cursor: '0' }, get_mission: after },
    items: { stream_session: [{ cursor: '1', kind: 'end', data: { outcome: 'failed' } }] },
  })
  expect(asked.filter(each => each.operation === 'stream_session').map(each => each.input.session_id)).toEqual(['s2'])
  expect(code).toBe(EXIT.failed)
})

test('without a terminal, what keeps it from starting is said once each time it changes', async () => {
  const queued = (text: string) => ({
    ...RUNNING,
    status: 'queued',
    session_id: null,
    waits_for: [{ kind: 'x', text }],
  })
  const looks = [queued('harbour is paused'), queued('harbour is paused'), queued('blocked by Dredge'), RUNNING]
  const { code, err } = await fleet(['mission', 'dispatch', 'abc', '--follow'], {
    answers: {
      dispatch_mission: queued('harbour is paused'),
      list_mission_events: { cursor: '0' },
      get_mission: () => looks.shift() ?? { ...RUNNING, status: 'failed' },
    },
    items: {
      stream_events: async function* () {
        yield { cursor: '1', kind: 'failed', data: { mission_id: 'another' } }
        await new Promise(() => {})
      },
      stream_session: [{ cursor: '1', kind: 'end', data: { outcome: 'failed' } }],
    },
  })
  expect(err.match(/^Mission abcdef .*$/gm)).toEqual([
    'Mission abcdef is queued: harbour is paused',
    'Mission abcdef is queued: blocked by Dredge',
  ])
  expect(code).toBe(EXIT.failed)
})

const LANDED = {
  ...RUNNING,
  status: 'done',
  result: 'landed',
  undoing: false,
  landed: { commit: 'c0ffee', branch: 'main' },
}

test.each([
  [
    'comes to its end',
    { ...LANDED, status: 'review', result: null, landed: null, status_reason: { text: 'It was undone.' } },
    EXIT.done,
    'review: It was undone.',
  ],
  [
    'fails',
    { ...LANDED, status_reason: { code: 'in_the_way', text: 'Files are in the way.', try: 'fleet undo abc' } },
    EXIT.failed,
    'not undone: Files are in the way.',
  ],
])('an undo that is followed and %s', async (_, end, exit, said) => {
  const looks = [{ ...LANDED, undoing: true }]
  const { code, out, err } = await fleet(['mission', 'undo', 'abc', '--follow'], {
    answers: {
      undo_mission: { ...LANDED, undoing: true },
      list_mission_events: { cursor: '0' },
      get_mission: () => looks.shift() ?? end,
    },
    items: { stream_events: [{ cursor: '1', kind: 'undone', data: { mission_id: RUNNING.id } }] },
  })
  expect(out).toContain(said)
  expect(err.includes('Try: fleet undo abc')).toBe(exit === EXIT.failed)
  expect(code).toBe(exit)
})

test('whatever happens, no handler is left behind', () => {
  expect(process.listenerCount('SIGINT')).toBe(0)
})
