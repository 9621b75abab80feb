import { appendFileSync, mkdirSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { aSession } from '../../domain/samples.testkit.ts'
import { aFleet } from '../fleet.testkit.ts'
import { current, put } from '../records.ts'
import { followSession } from './follow.ts'

const VIEWERS = 10

test('ten viewers of a session cost one reader, ask for nothing while nothing happens, and are told its end', async () => {
  const fleet = aFleet()
  await fleet.store.commit({ changes: [put('sessions', aSession(), 'absent')] })
  const folder = join(fleet.home.session('s1'), 'agent-1')
  mkdirSync(folder, { recursive: true })
  const print = (text: string) => appendFileSync(join(folder, 'stdout'), `${text}\n`)
  print('one')
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter(fd => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(realpathSync(folder))
      } catch {
        return false
      }
    }).length

  const left = new AbortController()
  onTestFinished(() => left.abort())
  const seen: string[][] = []
  const viewers = Array.from({ length: VIEWERS }, async () => {
    const kinds: string[] = []
    seen.push(kinds)
    const items = followSession(fleet, 's1', { follow: true, signal: left.signal, maxChars: 1000, raw: true })
    for await (const { kind, data } of items)
      kinds.push(kind === 'raw' ? String((data as { text: string }).text) : kind)
    return kinds
  })
  const haveSeen = (count: number) =>
    vi.waitFor(() => expect(seen.map(each => each.length)).toEqual(Array(VIEWERS).fill(count)), 10_000)
  await haveSeen(1)
  print('two')
  await haveSeen(2)

  const get = vi.spyOn(fleet.store, 'get')
  await pause(500)
  expect(get).not.toHaveBeenCalled()
  expect(openFiles()).toBe(1)

  const { value, version } = await current(fleet, 'sessions', 's1')
  const ended = { ...value, status: 'ended' as const, outcome: 'completed' as const, outcome_reason: 'done' }
  await fleet.store.commit({ changes: [put('sessions', ended, version)] })
  for (const kinds of await Promise.all(viewers)) expect(kinds).toEqual(['one', 'two', 'end'])
  expect(openFiles()).toBe(0)
})
