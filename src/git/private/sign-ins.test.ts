import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pushGuardEnvironment } from '../guard.ts'
import { commitLeftovers } from '../leftovers.ts'
import type { Within } from '../run.ts'
import { withoutSignIn } from '../sign-ins.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { folderOf } from './place.ts'
import { settingsOf } from './settings.ts'

let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }
const within: Within = argv => argv

beforeEach(async () => {
  repo = await aRepository()
  worktree = join(repo.root, 'home/worktrees/p/w')
})
afterEach(() => repo.remove())

const SECRETS = {
  'remote.origin.url': 'https://me:SECRET@example.com/x.git',
  'remote.origin.pushurl': 'https://SECRET@example.com/y.git',
  'remote.up.url': 'me:SECRET@example.com:x',
  'url.https://oauth2:SECRET@example.org/.insteadOf': 'https://example.org/',
  'url.ssh://git:SECRET@example.org/.pushInsteadOf': 'https://me:SE@SECRET@example.org/',
  'http.https://example.net/.extraHeader': 'Authorization: SECRET',
  'http.proxy': 'http://u:SECRET@proxy:1',
  'sendemail.smtpPass': 'SECRET',
  'github.token': 'SECRET',
  'lfs.https://u:SECRET@h/.access': 'basic',
  'alias.x': '!curl -u me:SECRET h',
}

test('a session inside walls gets no sign-in from any setting, file or variable', async () => {
  for (const [key, value] of Object.entries(SECRETS)) await repo.git('config', key, value)
  await repo.git('config', 'remote.plain.url', 'git@example.com:z')
  const project = await repo.open()
  await addPlace(project, { path: worktree, branch, from: 'main', ...GIVEN, within })
  const config = () => readFileSync(join(folderOf(worktree), 'git/config'), 'utf8')
  expect(config()).not.toContain('SECRET')
  expect(await runGit(worktree, ['config', 'remote.origin.url'])).toBe('https://example.com/x.git')
  expect(await runGit(worktree, ['config', 'remote.plain.url'])).toBe('git@example.com:z')
  const env = await pushGuardEnvironment(project, { walled: true })
  expect(JSON.stringify(env)).not.toContain('SECRET')
  for (const to of ['origin', 'up', 'plain'])
    for (const guard of [env, {}])
      await expect(runGit(worktree, ['push', to, 'HEAD:x'], guard)).rejects.toThrow(/flotilla-does-not-push/)
  await commitLeftovers({ worktree, branch, message: 'Leftovers\n', within })
  expect(config()).not.toContain('SECRET')
})

test('a session without walls has them', async () => {
  await repo.git('config', 'remote.origin.url', SECRETS['remote.origin.url'])
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN })
  expect(await runGit(worktree, ['config', 'remote.origin.url'])).toBe(SECRETS['remote.origin.url'])
})

test('a submodule inside walls gets none either', async () => {
  const part = await aRepository({ files: { inner: 'one\n' } })
  try {
    await repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', part.path, 'part')
    await repo.commit('part')
    await runGit(join(repo.path, 'part'), ['config', 'remote.origin.url', 'https://me:SECRET@example.com/x.git'])
    await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN, within })
    const config = join(folderOf(worktree), 'git/modules/part/config')
    expect(readFileSync(config, 'utf8')).toContain('https://example.com/x.git')
    await commitLeftovers({ worktree, branch, message: 'Leftovers\n', within })
    expect(readFileSync(config, 'utf8')).toContain('https://example.com/x.git')
  } finally {
    await part.remove()
  }
})

test('files of the person that a sign-in comes from are known; those without one are not among them', async () => {
  const more = join(repo.root, 'more')
  mkdirSync(more)
  writeFileSync(
    join(more, 'secret'),
    '[url "https://oauth2:SECRET@example.org/"]\n\tinsteadOf = https://example.org/\n',
  )
  writeFileSync(join(more, 'plain'), '[alias]\n\tst = status\n[credential]\n\thelper = cache\n')
  for (const name of ['secret', 'plain']) await repo.git('config', '--add', 'include.path', join(more, name))
  expect((await settingsOf(await repo.open())).signInFiles).toEqual([join(more, 'secret')])
})

test.each([
  ['https://me:pw@h/x', 'https://h/x'],
  ['https://token@h/x', 'https://h/x'],
  ['https://me:p@w@h/x', 'https://h/x'],
  ['ssh://git@h/x', 'ssh://git@h/x'],
  ['ssh://git:pw@h/x', 'ssh://git@h/x'],
  ['git@h:x/y', 'git@h:x/y'],
  ['me:pw@h:x', 'h:x'],
  ['https://h/@scope/x', 'https://h/@scope/x'],
  ['A Person <a@b.c>', 'A Person <a@b.c>'],
])('%s is told as %s', (address, told) => expect(withoutSignIn(address)).toBe(told))
