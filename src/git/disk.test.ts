import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bytesOf } from './disk.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flotilla-disk-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const KB = 1024
const file = (path: string, kilobytes: number) => writeFileSync(join(root, path), Buffer.alloc(kilobytes * KB, 1))

test('measures each folder, follows no links, and counts a file with several names once', async () => {
  for (const name of ['a', 'a/deep', 'b', '-c']) mkdirSync(join(root, name))
  file('large', 900)
  file('a/deep/one', 300)
  linkSync(join(root, 'a/deep/one'), join(root, 'a/two'))
  symlinkSync(join(root, 'large'), join(root, 'a/link'))
  file('b/three', 100)
  const paths = ['a', 'b', '-c', 'missing'].map(name => join(root, name))
  const sizes = (await bytesOf(paths))!
  expect(sizes.get(paths[0]!)).toBeGreaterThanOrEqual(300 * KB)
  expect(sizes.get(paths[0]!)).toBeLessThan(400 * KB)
  expect(sizes.get(paths[1]!)).toBeLessThan(200 * KB)
  expect([sizes.has(paths[2]!), sizes.has(paths[3]!)]).toEqual([true, false])
})

test('gives up when there is no time for it', async () => {
  expect(await bytesOf(['/usr', '/'], 1)).toBeUndefined()
})
