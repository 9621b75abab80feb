import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { emptyTrash, throwAway } from './trash.ts'

let root: string
let trash: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flotilla-trash-'))
  trash = join(root, 'trash')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

test('what is thrown away is gone at once, and removed later', async () => {
  mkdirSync(join(root, 'folder/deep'), { recursive: true })
  for (let i = 0; i < 1200; i++) writeFileSync(join(root, `folder/deep/${i}`), '')
  await throwAway(join(root, 'folder'), trash)
  await throwAway(join(root, 'never-was-there'), trash)
  expect([existsSync(join(root, 'folder')), readdirSync(trash).length]).toEqual([false, 1])
  expect(await emptyTrash(trash)).toEqual([])
  expect(readdirSync(trash)).toEqual([])
})

test('no link is followed, and folders that were closed are opened', async () => {
  writeFileSync(join(root, 'precious'), 'mine')
  mkdirSync(join(root, 'folder/shut/below'), { recursive: true })
  symlinkSync(root, join(root, 'folder/out'))
  chmodSync(join(root, 'folder/shut'), 0)
  const long = `n=${'n'.repeat(200)}; for i in $(seq 25); do mkdir "$n" && cd "$n"; done; echo x >x`
  execFileSync('/bin/sh', ['-c', long], { cwd: join(root, 'folder') })
  await throwAway(join(root, 'folder'), trash)
  symlinkSync(root, join(root, 'link'))
  await throwAway(join(root, 'link'), trash)
  expect(await emptyTrash(trash)).toEqual([])
  expect([readdirSync(trash), existsSync(join(root, 'precious'))]).toEqual([[], true])
})

test('a trash that is a link or a file is not used', async () => {
  mkdirSync(join(root, 'person'))
  writeFileSync(join(root, 'person/precious'), 'mine')
  symlinkSync(join(root, 'person'), trash)
  writeFileSync(join(root, 'file'), '')
  await throwAway(join(root, 'file'), trash)
  expect(await emptyTrash(trash)).toEqual([])
  expect([readdirSync(join(root, 'person')), existsSync(join(root, 'file'))]).toEqual([['precious'], false])
  rmSync(trash)
  writeFileSync(trash, '')
  mkdirSync(join(root, 'folder/below'), { recursive: true })
  await throwAway(join(root, 'folder'), trash)
  expect(existsSync(join(root, 'folder'))).toBe(false)
})

test('it waits while files are written for a start, and stops with the server', async () => {
  writeFileSync(join(root, 'file'), '')
  await throwAway(join(root, 'file'), trash)
  const stop = new AbortController()
  let looks = 0
  const isBusy = () => {
    if (++looks === 3) stop.abort()
    return true
  }
  await emptyTrash(trash, { signal: stop.signal, isBusy })
  expect(readdirSync(trash)).toHaveLength(1)
})
