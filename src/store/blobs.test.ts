import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NotFound } from '../domain/errors.ts'
import { INLINE_TEXT_BYTES } from '../domain/text.ts'
import { openBlobs } from './blobs.ts'
import { aFolder } from './sqlite/processes.testkit.ts'

const long = 'Ünïcode "quotes"\0\r\n💡'.repeat(10_000)

test('a long text comes back byte for byte, and a record keeps its beginning', async () => {
  const blobs = openBlobs(join(aFolder(), 'blobs'))
  const stored = await blobs.put(long)
  expect(stored).toMatchObject({ bytes: Buffer.byteLength(long), blob: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(long.startsWith(stored.head)).toBe(true)
  expect(stored.head.length).toBeGreaterThan(100)
  expect(await blobs.get(stored.blob)).toBe(long)
})

test('the beginning never ends in half a character', async () => {
  const blobs = openBlobs(join(aFolder(), 'blobs'))
  for (const text of ['💡'.repeat(9000), `x${'💡'.repeat(9000)}`]) {
    const { head } = await blobs.put(text)
    expect(head.isWellFormed()).toBe(true)
  }
})

test('the same text is kept once, also when many put it at the same time', async () => {
  const folder = join(aFolder(), 'blobs')
  const blobs = openBlobs(folder)
  const [first] = await Promise.all(Array.from({ length: 10 }, () => blobs.put(long)))
  expect(readdirSync(folder)).toEqual([first!.blob])
  const { ino } = statSync(join(folder, first!.blob))
  await blobs.put(long)
  expect(statSync(join(folder, first!.blob)).ino).toBe(ino)
  expect(statSync(join(folder, first!.blob)).mode & 0o077).toBe(0)
})

test('short texts stay in the record', async () => {
  const blobs = openBlobs(join(aFolder(), 'blobs'))
  const short = await blobs.keep('short')
  expect(short).toEqual({ inline: 'short' })
  const kept = await blobs.keep('é'.repeat(INLINE_TEXT_BYTES / 2))
  expect(kept).toHaveProperty('blob')
  expect(await blobs.read(short)).toBe('short')
  expect(await blobs.read(kept)).toBe('é'.repeat(INLINE_TEXT_BYTES / 2))
})

test('a hash that is unknown, or no hash at all, is not found', async () => {
  const blobs = openBlobs(aFolder())
  for (const hash of ['0'.repeat(64), '../../etc/passwd', ''])
    await expect(blobs.get(hash)).rejects.toBeInstanceOf(NotFound)
})
