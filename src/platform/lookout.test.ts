import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, truncateSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Lookout } from './lookout.ts'

const HOUR_MS = 3_600_000
const fault = (error: unknown): never => {
  throw error
}

/** Looks at a file `watched`, and rests for an hour unless a hint comes. */
function aLookout() {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-lookout-'))
  const file = join(folder, 'watched')
  const state = () => {
    const found = statSync(file, { throwIfNoEntry: false, bigint: true })
    return found ? `${found.ino} ${found.size} ${found.mtimeNs}` : ''
  }
  let [looks, changes, last] = [0, 0, state()]
  const look = () => {
    looks++
    const now = state()
    const changed = now !== last
    last = now
    if (changed) changes++
    return changed
  }
  const lookout = new Lookout({ folder, names: ['watched'], everyMs: 20, restMs: HOUR_MS }, look, fault)
  onTestFinished(() => {
    lookout.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    file,
    lookout,
    looks: () => looks,
    noticed: () => {
      const before = changes
      return () => vi.waitFor(() => expect(changes).toBeGreaterThan(before), { timeout: 5000, interval: 5 })
    },
    /** It looks every 20 ms until it rests. */
    async atRest() {
      for (let before = -1; looks !== before; await pause(300)) before = looks
    },
  }
}

describe('at rest', () => {
  test('it does not look, and notices what another process appends', async () => {
    const { file, atRest, looks, noticed } = aLookout()
    await atRest()
    const before = looks()
    const isNoticed = noticed()
    execFileSync('sh', ['-c', 'echo more >> "$0"', file])
    await isNoticed()
    expect(looks()).toBeGreaterThan(before)
  })

  test('it notices that the file is removed, made again, cut short and replaced', async () => {
    const { file, atRest, noticed } = aLookout()
    const acts = [
      () => writeFileSync(file, 'one'),
      () => rmSync(file),
      () => writeFileSync(file, 'two'),
      () => truncateSync(file),
      () => {
        writeFileSync(`${file}.new`, 'three')
        renameSync(`${file}.new`, file)
      },
    ]
    for (const act of acts) {
      await atRest()
      const isNoticed = noticed()
      act()
      await isNoticed()
    }
    expect(readFileSync(file, 'utf8')).toBe('three')
  })

  test('other files do not wake it', async () => {
    const { file, atRest, looks } = aLookout()
    await atRest()
    const before = looks()
    const reports: (string | null)[] = []
    const watcher = watch(dirname(file), (_, name) => reports.push(name))
    onTestFinished(() => watcher.close())
    writeFileSync(`${file}.other`, 'not mine')
    await vi.waitFor(() => expect(reports).toContain('watched.other'))
    expect(looks()).toBe(before)
  })
})

test('a change that can be seen only after its hint is noticed soon', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-lookout-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  let [looks, isVisible, seen] = [0, false, 0]
  const look = () => {
    looks++
    if (isVisible) seen++
    return false
  }
  const lookout = new Lookout({ folder, names: ['log'], everyMs: 20, restMs: HOUR_MS }, look, fault)
  onTestFinished(() => lookout.close())
  for (let before = -1; looks !== before; await pause(300)) before = looks
  const atRest = looks
  writeFileSync(join(folder, 'log'), 'x')
  await vi.waitFor(() => expect(looks).toBeGreaterThan(atRest))
  isVisible = true
  await vi.waitFor(() => expect(seen).toBeGreaterThan(0))
})

test('where nothing gives hints, it goes on looking', async () => {
  let looks = 0
  const look = () => {
    looks++
    return false
  }
  const lookout = new Lookout({ folder: '/proc', names: ['none'], everyMs: 20, restMs: HOUR_MS }, look, fault)
  onTestFinished(() => lookout.close())
  await vi.waitFor(() => expect(looks).toBeGreaterThan(80), { timeout: 10_000 })
})

test('a look that fails is reported once and repeated', async () => {
  const faults: unknown[] = []
  let looks = 0
  const look = () => {
    if (++looks < 5) throw new Error('not now')
    return false
  }
  const lookout = new Lookout({ folder: tmpdir(), names: [], everyMs: 5 }, look, error => faults.push(error))
  onTestFinished(() => lookout.close())
  await vi.waitFor(() => expect(looks).toBeGreaterThan(6))
  expect(faults).toHaveLength(1)
})

test('one that is closed while it looks looks no more', async () => {
  let looks = 0
  const lookout: Lookout = new Lookout(
    { folder: tmpdir(), names: [], everyMs: 5 },
    () => {
      looks++
      lookout.close()
      return true
    },
    fault,
  )
  await vi.waitFor(() => expect(looks).toBe(1))
  await pause(50)
  expect(looks).toBe(1)
})
