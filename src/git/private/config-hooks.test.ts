import { existsSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { advance } from '../advance.ts'
import { commitLeftovers } from '../leftovers.ts'
import { gitVersion } from '../run.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addWorktree } from '../worktrees.ts'
import { addPlace } from './making.ts'

/** From this version on git runs hooks that a configuration names. */
const SINCE = '2.54'
const EVENTS = [
  'pre-commit',
  'commit-msg',
  'post-commit',
  'reference-transaction',
  'post-checkout',
  'post-index-change',
]

let repo: TestRepository
let worktree: string
let log: string

beforeEach(async () => {
  repo = await aRepository()
  worktree = join(repo.root, 'home/worktrees/p/w')
  log = join(repo.root, 'log')
  await repo.git('config', 'hook.spy.command', `echo ran >> ${log}`)
  for (const event of EVENTS) await repo.git('config', '--add', 'hook.spy.event', event)
  rmSync(log, { force: true })
})
afterEach(() => repo.remove())

test('no git of Flotilla runs a hook that a configuration names', async () => {
  const project = await repo.open()
  await addPlace(project, { path: worktree, branch: 'fleet/w', from: 'main', ...GIVEN, hooks: true })
  await writeFile(join(worktree, 'new'), 'x\n')
  const { tip } = await commitLeftovers({ worktree, branch: 'fleet/w', message: 'Leftovers\n' })
  expect(await advance(project, { branch: 'main', from: await repo.tip(), to: tip })).toEqual({ moved: true })
  await addWorktree(project, { path: join(repo.root, 'home/worktrees/p/linked'), branch: 'fleet/l', from: 'main' })
  expect(existsSync(log)).toBe(false)
})

test.each([true, false])('an agent’s commits run them where hooks are on: %s', async hooks => {
  await addPlace(await repo.open(), { path: worktree, branch: 'fleet/w', from: 'main', ...GIVEN, hooks })
  const as = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
  await runGit(worktree, [...as, 'commit', '--quiet', '--allow-empty', '-m', 'by an agent'])
  const isKnown = (await gitVersion()).localeCompare(SINCE, 'en', { numeric: true }) >= 0
  expect(existsSync(log)).toBe(hooks && isKnown)
})

const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: false }
