import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { cpuSeconds, memory, serverProcesses, sum } from '../../bench/processes.ts'
import { aRepository } from '../../src/git/testkit.ts'
import { aFleet, eventually } from '../kit/fleet.ts'

const WINDOW_MS = 2000
/** It woke 35 times a second when it looked at everything all the time. */
const MOST_A_SECOND = 10

function wakes(pid: number): number {
  return Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1])
}

const children = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number)

/** V8 may tidy up in any single window. */
async function comesToRest(pid: number): Promise<void> {
  await eventually(`a window with few wakes`, async () => {
    const before = wakes(pid)
    await pause(WINDOW_MS)
    return (wakes(pid) - before) * 1000 <= MOST_A_SECOND * WINDOW_MS
  })
}

test('a server with nothing to do rests alone, also after work, and still notices commits', async () => {
  const [fleet, repository] = [await aFleet(), await aRepository()]
  onTestFinished(async () => {
    await fleet.remove()
    await repository.remove()
  })
  const { child } = await fleet.start()
  const pid = child.pid!
  await comesToRest(pid)
  expect(children(pid)).toEqual([])

  // Another process commits, and the server, at rest, starts the agent.
  const mission = await fleet.mission(await fleet.project(repository.path), 'echo done > done.txt')
  await fleet.until(mission.id, 'done')
  await eventually('the spawner has left', () => children(pid).length === 0)
  await comesToRest(pid)
})

const MOST_MIB = 90
/** Percent of a core. */
const MOST_CPU = 0.3
const REST_MS = 10_000

test('all processes of a server with nothing to do are small, and nearly still', { timeout: 180_000 }, async () => {
  const fleet = await aFleet()
  onTestFinished(() => fleet.remove())
  const { child } = await fleet.start({ byItself: true })
  const all = () => serverProcesses(child.pid!)
  const cpu = () => sum(all().map(cpuSeconds))
  // It collects what its start left once it has been quiet for ten seconds.
  const rss = () => sum(all().map(pid => memory(pid, 'VmRSS')))
  await eventually(
    `at most ${MOST_MIB} MiB`,
    () => rss() <= MOST_MIB,
    () => `${rss()} MiB`,
    90_000,
  )
  const shares: number[] = []
  do {
    const before = cpu()
    await pause(REST_MS)
    shares.push(((cpu() - before) * 100_000) / REST_MS)
  } while (Math.min(...shares) > MOST_CPU && shares.length < 6)
  expect(Math.min(...shares), shares.join()).toBeLessThanOrEqual(MOST_CPU)
})
