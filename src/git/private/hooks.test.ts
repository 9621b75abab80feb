import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { folderOf } from './place.ts'

test('of the files beside a folder of hooks, only those that the project tracks are copied', async () => {
  const hook = '#!/bin/sh\n'
  const repo = await aRepository({
    files: { 'tools/hooks/pre-commit': hook, 'tools/helper': hook, '.gitignore': '.env\n' },
  })
  await repo.git('config', 'core.hooksPath', 'tools/hooks')
  writeFileSync(join(repo.path, 'tools/.env'), 'SECRET=1\n')
  const worktree = join(repo.root, 'home/worktrees/p/w')
  const given = { base: 'main', session: 's1', allowPush: false, hooks: true }
  await addPlace(await repo.open(), { path: worktree, branch: 'fleet/w', from: 'main', ...given })
  const copied = (file: string) => existsSync(join(folderOf(worktree), 'git/hooks/tools', file))
  expect(['hooks/pre-commit', 'helper', '.env'].map(copied)).toEqual([true, true, false])
  await repo.remove()
})
