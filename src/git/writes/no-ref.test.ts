import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepRef, keptRef } from '../kept-refs.ts'
import { type Repository, readRef } from '../layout.ts'
import { dropRef, writeRef } from '../private/project-refs.ts'
import { aRepository, type TestRepository } from '../testkit.ts'
import { byGit } from './by-git.ts'

const REF = 'refs/heads/fleet/shell/work'
let at: TestRepository
let repo: Repository
let tip: string

beforeEach(async () => {
  at = await aRepository()
  repo = await at.open()
  tip = await at.tip()
  await writeRef(repo, REF, tip)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await at.remove()
})

const folder = (path: string): string => join(repo.commonDir, path)
const refs = () => at.git('for-each-ref', '--format=%(refname)')

test.each(['plain', 'git'])('a ref is deleted with its log and its empty folders (%s)', async mode => {
  vi.stubEnv('FLEET_GIT_WRITES', mode)
  await mkdir(folder('logs/refs/heads/fleet/shell'), { recursive: true })
  await writeFile(folder(`logs/${REF}`), '')
  await dropRef(repo, REF)
  expect(await refs()).toBe('refs/heads/main')
  expect(
    [`logs/${REF}`, 'refs/heads/fleet', `${REF}.lock`, 'packed-refs.lock'].filter(path => existsSync(folder(path))),
  ).toEqual([])
})

test('the folder for places of a project stays for the next one', async () => {
  const ref = 'refs/fleet/places/project/name'
  await writeRef(repo, ref, tip)
  await dropRef(repo, ref)
  expect([dirname(ref), ref, `${ref}.lock`].map(path => existsSync(folder(path)))).toEqual([true, false, false])
  // Git does not mind: a ref may take the place of an empty folder.
  await at.git('update-ref', dirname(ref), tip)
})

test('a ref stays where somebody moved it', async () => {
  const other = await at.commit('other')
  await at.git('update-ref', REF, other)
  await expect(dropRef(repo, REF, tip)).rejects.toThrow(/update-ref/)
  expect(await readRef(repo, REF)).toBe(other)
  expect(existsSync(folder('packed-refs.lock'))).toBe(false)
})

test('a packed ref does not come back', async () => {
  await at.git('pack-refs', '--all')
  await at.git('update-ref', REF, await at.commit('other'))
  await dropRef(repo, REF)
  expect(await refs()).toBe('refs/heads/main')
})

test.each([`${REF}.lock`, 'packed-refs.lock'])('a ref behind a lock of another git is left to git (%s)', async lock => {
  await writeFile(folder(lock), '')
  const real = vi.spyOn(byGit, 'noRef').mockImplementation(async (...wanted) => {
    expect(await readRef(repo, REF)).toBe(tip)
    await rm(folder(lock))
    real.mockRestore()
    await byGit.noRef(...wanted)
  })
  await dropRef(repo, REF)
  expect(await refs()).toBe('refs/heads/main')
})

test('work is kept before its branch goes', async () => {
  await keepRef(repo, { ref: keptRef('mission', 1), oid: tip, deleteBranch: 'fleet/shell/work' })
  expect(await refs()).toBe(`refs/fleet/mission/1\nrefs/heads/main`)
  await keepRef(repo, { ref: keptRef('mission', 1), oid: tip, deleteBranch: 'fleet/shell/work' })
})
