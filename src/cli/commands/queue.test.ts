import { expect, test } from 'vitest'
import { fleet } from '../testing.ts'

const TASK = {
  mission_id: 'abcdefgh1234',
  title: 'Build\x1b[2J a ship',
  project: 'yard',
  started_at: new Date(Date.now() - 65_000).toISOString(),
  last_at: new Date(Date.now() - 5000).toISOString(),
  events: 12,
  context: { used_tokens: 50_000, peak_tokens: 150_000, window_tokens: 200_000 },
  agent: 'claude',
  model: 'opus',
  set: ['model'],
}

test('tasks draws over itself until Ctrl-C: what is inherited is dim, what is set is bold', async () => {
  let looks = 0
  const { out, code } = await fleet(['tasks'], {
    terminal: true,
    answers: {
      list_running: () => {
        looks++
        if (looks === 2) setImmediate(() => process.emit('SIGINT'))
        return { tasks: looks === 1 ? [TASK] : [], more: 0 }
      },
    },
  })
  expect(code).toBe(0)
  expect(out).toContain('\x1b[2mclaude\x1b[0m')
  expect(out).toContain('\x1b[1mopus\x1b[0m')
  expect(out).toMatch(/1m 5s +5s +25%/)
  expect(out).not.toContain('\x1b[2J')
  expect(out).toContain('\x1b[2A')
  expect(out).toContain('Nothing is running.')
})
