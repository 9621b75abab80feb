import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { SideProcess } from '../../domain/records/side-process.ts'
import { aMission, aProject, aSession, NOW } from '../../domain/samples.testkit.ts'
import { aDesk } from '../reactor.testkit.ts'
import { aBench, interrupted } from '../workshop.testkit.ts'
import { addressesFor, firstAnswering, freePort } from './port.ts'
import {
  changeSideProcess,
  endSideProcesses,
  sideProcessEnded,
  sideProcessesOf,
  sideProcessId,
  startSideProcess,
  stopSideProcess,
} from './processes.ts'
import { Previews } from './reactor.ts'

const ask = { operation: 'test', actor: 'a person' }
const SERVES = `exec "${process.execPath}" -e 'require("http").createServer((_, r) => r.end("ok")).listen(+process.env.PORT, "127.0.0.1")'`

/** A mission that an agent has worked on, in a folder without worktrees. */
async function shown(preview_command: string | null = 'exit 3') {
  const bench = aBench()
  const { fleet, save } = bench
  const project = aProject({ path: fleet.home.path, worktree: 'none', preview_command })
  await save('projects', project)
  await save('missions', aMission({ status: 'review', session_id: 's1' }))
  await save('sessions', aSession({ status: 'ended', worktree: null, worktree_kept: false }))
  const begun: Promise<unknown>[] = []
  const reactor = new Previews(fleet, { ...aDesk(), goOn: (_, work) => void begun.push(work) }, () => [])
  onTestFinished(async () => {
    reactor.stop()
    await endSideProcesses(fleet, await sideProcessesOf(fleet, 'm1'), 'The test is over.')
  })
  const id = sideProcessId('m1', 'preview')
  return {
    ...{ ...bench, reactor, begun, id, start: () => startSideProcess(fleet, ask, 'm1', 'preview') },
    kept: async () => (await fleet.store.get('processes', id))!.value,
    /** Lets the reactor do everything about the preview, and waits for it. */
    looked: async () => {
      await reactor.look(`processes/${id}`)
      await Promise.all(begun)
    },
  }
}

test('a mission has one preview, however often and however many at once ask for it', async () => {
  const { start, told } = await shown()
  const asked = await Promise.all([start(), start(), start()])
  expect(new Set(asked.map(({ value }) => value.id)).size).toBe(1)
  expect((await start()).value).toMatchObject({ status: 'starting', run: 1, command: 'exit 3' })
  expect(await told()).toEqual(['process_asked m1'])
})

test('what cannot be shown is refused, with what to do', async () => {
  const without = await shown(null)
  await expect(without.start()).rejects.toMatchObject({
    message: 'Neither mission m1 nor its project has a preview command.',
    hint: expect.stringContaining('fleet project set p1 --preview'),
  })
  const { fleet, change, start } = await shown()
  await expect(startSideProcess(fleet, ask, 'm1', 'remote')).rejects.toThrow('has no remote control')
  await change('missions', 'm1', { session_id: null })
  await expect(start()).rejects.toThrow('Mission m1 has no worktree yet: no agent has worked on it.')
  await change('missions', 'm1', { deleting: true })
  await expect(start()).rejects.toThrow('Mission m1 is being deleted.')
})

test('a mission that is deleted in the same moment gets no preview', async () => {
  const { fleet, change, id } = await shown()
  const meanwhile = interrupted(fleet, 'commit.wish', () => change('missions', 'm1', { deleting: true }))
  await expect(startSideProcess(meanwhile, ask, 'm1', 'preview')).rejects.toThrow('Mission m1 is being deleted.')
  expect(await fleet.store.get('processes', id)).toBeUndefined()
})

test('one that is being ended is not started again before it has ended; then it is, as the next run', async () => {
  const { fleet, start, id } = await shown()
  await start()
  await stopSideProcess(fleet, ask, 'm1', 'preview')
  await expect(start()).rejects.toThrow('The preview of mission m1 is being stopped.')
  await sideProcessEnded(fleet, id, { reason: 'over', exit_code: 0 })
  await expect(stopSideProcess(fleet, ask, 'm1', 'preview')).rejects.toThrow(
    'There is no preview of mission m1 to stop.',
  )
  expect((await start()).value).toMatchObject({ run: 2, status: 'starting', stopping: null })
})

test('its end is told once, and what comes after the end changes nothing', async () => {
  const { fleet, start, id, kept, told } = await shown()
  await start()
  await Promise.all([1, 2].map(code => sideProcessEnded(fleet, id, { reason: `with ${code}`, exit_code: code })))
  expect(await changeSideProcess(fleet, id, { url: 'http://127.0.0.1:1/' })).toBeUndefined()
  expect(await changeSideProcess(fleet, 'gone', { url: 'x' })).toBeUndefined()
  expect(await kept()).toMatchObject({ status: 'ended', url: null, reason: 'with 1' })
  expect(await told()).toEqual(['process_asked m1', 'process_ended m1'])
})

test('a program that ends before it answers says how, and what it printed last', async () => {
  const { start, looked, kept, told } = await shown('echo no such thing; exit 3')
  await start()
  await looked()
  expect(await kept()).toMatchObject({ status: 'ended', exit_code: 3, process: null })
  expect((await kept()).reason).toBe(
    'The preview ended by itself with exit code 3 before it came up. Its last output:\nno such thing',
  )
  await looked()
  expect(await told()).toEqual(['process_asked m1', 'process_ended m1'])
})

test('a program that answers on its port is up with its address, until a person stops it', async () => {
  const { fleet, start, reactor, id, kept, begun } = await shown(SERVES)
  await start()
  await reactor.look(`processes/${id}`)
  await expect.poll(async () => (await kept()).status, { timeout: 30_000 }).toBe('up')
  const { url, port, process: started } = await kept()
  expect(url).toBe(`http://127.0.0.1:${port}/`)
  expect(await firstAnswering([url!])).toBe(url)
  await stopSideProcess(fleet, ask, 'm1', 'preview')
  await reactor.look(`processes/${id}`)
  await Promise.all(begun)
  expect(await kept()).toMatchObject({ status: 'ended', reason: 'A person stopped it.', url: null, process: null })
  expect(() => process.kill(started!.pid, 0)).toThrow()
})

test('one that was to end before it began is ended, and nothing is run', async () => {
  const { fleet, start, looked, kept, told } = await shown('touch ran')
  await start()
  await stopSideProcess(fleet, ask, 'm1', 'preview')
  await looked()
  expect(await kept()).toMatchObject({ status: 'ended', reason: 'A person stopped it.', process: null })
  expect([existsSync(join(fleet.home.path, 'ran')), (await told()).at(-1)]).toEqual([false, 'process_ended m1'])
})

test.each<Partial<SideProcess>>([{ status: 'ended' }, { host: 'another machine' }])(
  'nothing is begun about one that is over, of another host or gone: %o',
  async more => {
    const { start, change, looked, begun, id, reactor } = await shown()
    await start()
    await change('processes', id, more)
    await looked()
    await reactor.look('processes/gone')
    expect(begun).toEqual([])
  },
)

test('the address that a program says itself comes first, and another port is never asked', () => {
  const printed =
    '\u001b[32mLocal: http://localhost:5173/app\u001b[0m and http://0.0.0.0:5173/ and http://localhost:22/'
  expect(addressesFor(5173, printed)).toEqual([
    'http://localhost:5173/app',
    'http://127.0.0.1:5173/',
    'http://[::1]:5173/',
  ])
})

test('nobody answers at a port that is free', async () => {
  expect(await firstAnswering([`http://127.0.0.1:${await freePort()}/`])).toBeUndefined()
})

test('a preview ends by itself after the hours of the settings', async () => {
  const { fleet, start } = await shown()
  const { until } = (await start()).value
  expect(Date.parse(until!) - Date.parse(NOW)).toBe(fleet.settings.previewHours * 3_600_000)
})
