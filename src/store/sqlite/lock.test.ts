import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isHeld, readDaemon, takeLock } from './lock.ts'
import { aFolder, run } from './processes.testkit.ts'

const me = {
  pid: process.pid,
  started: 'now',
  version: '1',
  host: 'here',
  url: 'http://127.0.0.1:3847',
  reachable_at: [],
  settings: {},
  flags: {},
}

test('one process holds a home; a second is refused and can read who holds it', async () => {
  const home = aFolder()
  const first = run('holder.testkit.ts', home)
  await first.lines(1)
  endLater(Number(first.printed[0]))
  const second = run('holder.testkit.ts', home)
  expect(await second.exit).toBe(0)
  expect(second.printed).toEqual(['refused'])
  expect(takeLock(home)).toBeUndefined()
  expect(isHeld(home)).toBe(true)
  expect(readDaemon(home)).toMatchObject({ pid: first.child.pid })
})

test('kill -9 frees the home at once, though a child of the daemon lives on', async () => {
  const home = aFolder()
  const holder = run('holder.testkit.ts', home)
  await holder.lines(1)
  const child = Number(holder.printed[0])
  endLater(child)
  holder.child.kill('SIGKILL')
  await holder.exit
  expect(process.kill(child, 0)).toBe(true)
  expect(isHeld(home)).toBe(false)
  const lock = takeLock(home)
  expect(lock).toBeDefined()
  expect(readDaemon(home)).toBeUndefined()
  lock!.release()
})

test('a lock is announced, refused to others in the same process, and released', async () => {
  const home = join(aFolder(), 'not/there/yet')
  expect(isHeld(home)).toBe(false)
  const lock = takeLock(home)!
  expect(readDaemon(home)).toBeUndefined()
  await lock.announce(me)
  expect(readDaemon(home)).toEqual(me)
  expect(takeLock(home)).toBeUndefined()
  expect(isHeld(home)).toBe(true)
  expect(isHeld(home)).toBe(true)
  lock.release()
  expect(isHeld(home)).toBe(false)
  expect(readDaemon(home)).toBeUndefined()
  const next = takeLock(home)!
  lock.release()
  expect(isHeld(home)).toBe(true)
  next.release()
})

test('a process that keeps checking the lock does not stop others from taking it', async () => {
  const home = aFolder()
  takeLock(home)!.release()
  await run('asker.testkit.ts', home).lines(1)
  for (let n = 0; n < 200; n++) {
    const lock = takeLock(home)
    expect(lock, `attempt ${n}`).toBeDefined()
    lock!.release()
  }
})

test('a holder file that makes no sense counts as missing', () => {
  const home = aFolder()
  for (const text of ['', '{', '{"pid":"x"}', 'null']) {
    writeFileSync(join(home, 'holder.json'), text)
    expect(readDaemon(home)).toBeUndefined()
  }
})

const endLater = (pid: number) => onTestFinished(() => void process.kill(pid, 'SIGKILL'))
