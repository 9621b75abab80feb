import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isHeld, readHolder, takeLease } from './lease.ts'
import { aFolder, run } from './sqlite/processes.testkit.ts'

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
  expect(takeLease(home)).toBeUndefined()
  expect(isHeld(home)).toBe(true)
  expect(readHolder(home)).toMatchObject({ pid: first.child.pid })
})

test('kill -9 frees the home at once, though a child of the holder lives on', async () => {
  const home = aFolder()
  const holder = run('holder.testkit.ts', home)
  await holder.lines(1)
  const child = Number(holder.printed[0])
  endLater(child)
  holder.child.kill('SIGKILL')
  await holder.exit
  expect(process.kill(child, 0)).toBe(true)
  expect(isHeld(home)).toBe(false)
  const lease = takeLease(home)
  expect(lease).toBeDefined()
  expect(readHolder(home)).toBeUndefined()
  lease!.release()
})

test('a lease is announced, refused to others in the same process, and released', async () => {
  const home = join(aFolder(), 'not/there/yet')
  expect(isHeld(home)).toBe(false)
  const lease = takeLease(home)!
  expect(readHolder(home)).toBeUndefined()
  await lease.announce(me)
  expect(readHolder(home)).toEqual(me)
  expect(takeLease(home)).toBeUndefined()
  expect(isHeld(home)).toBe(true)
  expect(isHeld(home)).toBe(true)
  lease.release()
  expect(isHeld(home)).toBe(false)
  expect(readHolder(home)).toBeUndefined()
  const next = takeLease(home)!
  lease.release()
  expect(isHeld(home)).toBe(true)
  next.release()
})

test('someone who keeps asking whether a home is held keeps nobody from taking it', async () => {
  const home = aFolder()
  takeLease(home)!.release()
  await run('asker.testkit.ts', home).lines(1)
  for (let n = 0; n < 200; n++) {
    const lease = takeLease(home)
    expect(lease, `attempt ${n}`).toBeDefined()
    lease!.release()
  }
})

test('a holder file that makes no sense is as good as none', () => {
  const home = aFolder()
  for (const text of ['', '{', '{"pid":"x"}', 'null']) {
    writeFileSync(join(home, 'holder.json'), text)
    expect(readHolder(home)).toBeUndefined()
  }
})

const endLater = (pid: number) => onTestFinished(() => void process.kill(pid, 'SIGKILL'))
