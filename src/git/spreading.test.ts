import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { addPlace } from './private/making.ts'
import { openRepository } from './repository.ts'
import { spread } from './spreading.ts'
import { aRepository } from './testkit.ts'

const root = mkdtempSync(join(tmpdir(), 'flotilla-spreading-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const folder = (name: string): string => {
  mkdirSync(join(root, name), { recursive: true })
  return join(root, name)
}

/** Undefined: the disk has no such attributes. */
function isSpread(path: string): boolean | undefined {
  try {
    return execFileSync('lsattr', ['-d', path], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split(' ')[0]!
      .includes('T')
  } catch {
    return undefined
  }
}

function canMark(): boolean {
  try {
    execFileSync('chattr', ['+T', folder('probe')], { stdio: 'ignore' })
    return isSpread(folder('probe')) === true
  } catch {
    return false
  }
}

describe.skipIf(!canMark())('on a disk that has the attribute (the temporary folder, with chattr and lsattr)', () => {
  test('folders are marked, also beside one that is not there', async () => {
    const [one, other] = [folder('one'), folder('other')]
    await spread([one, join(root, 'missing'), other])
    expect([one, other].map(isSpread)).toEqual([true, true])
  })

  test('the folders that hold worktrees and their repositories are marked when one is made', async () => {
    const repository = await aRepository()
    const path = join(root, 'home/worktrees/project/mission')
    const given = { base: 'main', session: 's', allowPush: false, hooks: false }
    await addPlace(await openRepository(repository.path), { path, branch: 'fleet/mission', from: 'main', ...given })

    const folders = [dirname(path), join(root, 'home/repositories/project')]
    await vi.waitFor(() => expect(folders.map(isSpread)).toEqual([true, true]))
    expect(isSpread(path)).toBe(false)
    await repository.remove()
  })
})

test('without chattr nothing happens', async () => {
  vi.stubEnv('PATH', '/nowhere')
  await expect(spread([folder('unmarked')])).resolves.toBeUndefined()
  vi.unstubAllEnvs()
  expect(isSpread(folder('unmarked')) ?? false).toBe(false)
})
