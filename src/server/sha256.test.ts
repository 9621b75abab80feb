import { createHash, createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'

const HERE = './pages/sha256.js'

test("a page's own SHA-256 and HMAC are the same as those of Node", async () => {
  const { sha256, hmac } = (await import(HERE)) as Record<'sha256' | 'hmac', (...bytes: Uint8Array[]) => Uint8Array>
  for (const length of [0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 1000, 100_000]) {
    const [bytes, key] = [randomBytes(length), randomBytes(32)]
    expect(Buffer.from(sha256(bytes)).toString('hex')).toBe(createHash('sha256').update(bytes).digest('hex'))
    expect(Buffer.from(hmac(key, bytes)).toString('hex')).toBe(createHmac('sha256', key).update(bytes).digest('hex'))
  }
})
