import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { movePipes, openPipes, placePipes } from './pipes.ts'

let root: string
let close = () => {}
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flotilla-pipes-'))
})
afterEach(() => {
  close()
  // A program may still be making some.
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

const some = (name: string) => [join(root, `${name}-1`), join(root, `${name}-2`)]
const arePipes = (paths: string[]) => paths.every(path => lstatSync(path, { throwIfNoEntry: false })?.isFIFO())
const ahead = () => (existsSync(join(root, 'pipes')) ? readdirSync(join(root, 'pipes')).length : 0)

test('pipes that were made ahead are moved into place, and the first ones are made for the launch', async () => {
  close = openPipes(join(root, 'pipes')).close
  await placePipes(some('first'))
  expect(arePipes(some('first'))).toBe(true)
  expect(lstatSync(some('first')[0]!).mode & 0o777).toBe(0o600)

  await vi.waitFor(() => expect(movePipes(some('second'))).toBe(true), 10_000)
  expect(arePipes(some('second'))).toBe(true)
})

test('more are made before they run out', async () => {
  close = openPipes(join(root, 'pipes')).close
  for (let n = 0; n < 40; n++) await vi.waitFor(() => expect(movePipes(some(String(n)))).toBe(true), 10_000)
})

test('if those made ahead are gone, nothing is left half in place', async () => {
  close = openPipes(join(root, 'pipes')).close
  movePipes([])
  await vi.waitFor(() => expect(ahead()).toBe(32), 10_000)
  await vi.waitFor(() => expect(movePipes(some('one'))).toBe(true), 10_000)
  // More of them may still be in the making.
  rmSync(join(root, 'pipes'), { recursive: true, maxRetries: 20 })
  expect(movePipes(some('two'))).toBe(false)
  expect(some('two').some(path => existsSync(path))).toBe(false)
  await placePipes(some('two'))
  expect(arePipes(some('two'))).toBe(true)
})

test('a server forgets those of the one before, and without any each launch makes its own', async () => {
  writeFileSync(join(root, 'pipes'), 'in the way')
  close = openPipes(join(root, 'pipes')).close
  expect(existsSync(join(root, 'pipes'))).toBe(false)
  close()
  expect(movePipes(some('three'))).toBe(false)
  await placePipes(some('three'))
  expect(arePipes(some('three'))).toBe(true)
})
