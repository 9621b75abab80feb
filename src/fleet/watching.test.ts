import { expect, test } from 'vitest'
import { aProject } from '../domain/samples.testkit.ts'
import { memoryStore } from '../store/index.ts'
import { put } from './records.ts'
import { untilSeen } from './watching.ts'

const { signal } = new AbortController()

test('a quiet watcher is told that time passes without a look, and looks after a commit', async () => {
  const store = memoryStore()
  let [looks, told] = [0, 0]
  const look = async () => {
    looks++
    return (await store.get('projects', 'p1'))?.value.name
  }
  const seen = untilSeen(store, look, { ms: 10_000, signal, quiet: { everyMs: 20, tell: () => told++ } })
  await expect.poll(() => told).toBeGreaterThan(2)
  expect(looks).toBe(1)
  await store.commit({ changes: [put('projects', aProject({ name: 'seen' }), 'absent')] })
  expect(await seen).toBe('seen')
  expect(looks).toBe(2)
})

test('what is committed while it looks is not missed', async () => {
  const store = memoryStore()
  const look = async () => {
    const before = await store.get('projects', 'p1')
    if (!before) await store.commit({ changes: [put('projects', aProject(), 'absent')] })
    return before?.value.id
  }
  expect(await untilSeen(store, look, { ms: 10_000, signal })).toBe('p1')
})
