import { expect, test } from 'vitest'
import { imageIn, imageProblem, imagesProblem, MAX_IMAGE_BYTES } from './images.ts'

const from = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'))
/** A dot of each kind, as programs write them. */
const PNG = from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==')
const GIF = from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7')
const WEBP = from('UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=')
const LOSSLESS = from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==')
const JPEG = new Uint8Array([
  ...[0xff, 0xd8, 0xff, 0xe0, 0, 6, 74, 70, 73, 70, 0xff, 0xff, 0xc2, 0, 11, 8],
  ...[0x01, 0x02, 0x03, 0x04, 1, 1, 0x11, 0, 0xff, 0xd9],
])

test.each([
  ['PNG', PNG, { type: 'image/png', width: 1, height: 1 }],
  ['GIF', GIF, { type: 'image/gif', width: 1, height: 1 }],
  ['WebP', WEBP, { type: 'image/webp', width: 1, height: 1 }],
  ['lossless WebP', LOSSLESS, { type: 'image/webp', width: 1, height: 1 }],
  ['JPEG', JPEG, { type: 'image/jpeg', width: 0x0304, height: 0x0102 }],
])('%s is known by its content', (_, bytes, facts) => {
  expect(imageIn(bytes)).toEqual(facts)
  expect(imageProblem(bytes)).toBeUndefined()
})

test.each([
  ['nothing', ''],
  ['text', 'a picture'],
  ['a drawing that can run scripts', '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'],
  ['a page', '<!doctype html><img src=x>'],
  ['a PDF', '%PDF-1.7'],
  ['the beginning of a GIF', 'GIF89a'],
  ['another RIFF file', 'RIFF0000WAVEfmt 0000000000000000'],
])('%s is no image', (_, text) => {
  expect(imageIn(new TextEncoder().encode(text))).toBeUndefined()
  expect(imageProblem(new TextEncoder().encode(text))).toBe('is not a PNG, JPEG, GIF or WebP image')
})

test('an image that ends in its header, or has no size, is none', () => {
  for (const bytes of [PNG, GIF, WEBP, LOSSLESS, JPEG]) {
    for (let length = 0; length < 16; length++) imageIn(bytes.subarray(0, length))
    expect(imageIn(bytes.subarray(0, 8))).toBeUndefined()
  }
  expect(imageIn(withWidth(0))).toBeUndefined()
})

function withWidth(width: number): Uint8Array {
  const bytes = PNG.slice()
  new DataView(bytes.buffer).setUint32(16, width)
  return bytes
}

test.each([
  ['PNG', PNG],
  ['GIF', GIF],
  ['WebP', WEBP],
  ['lossless WebP', LOSSLESS],
  ['JPEG', JPEG],
])('a %s that was cut off anywhere is refused, and bytes after its end are not', (_, bytes) => {
  for (let length = 0; length < bytes.length; length++)
    expect(imageProblem(bytes.subarray(0, length)), String(length)).toMatch(/is damaged|is not a PNG/)
  expect(imageProblem(bytes.subarray(0, -1))).toBe('is damaged: its end is missing')
  expect(imageProblem(new Uint8Array([...bytes, 0, 10, 0]))).toBeUndefined()
})

test('it is found at any place in a larger buffer', () => {
  const larger = new Uint8Array([1, 2, 3, ...PNG])
  expect(imageIn(larger.subarray(3))).toMatchObject({ type: 'image/png' })
})

test('too many bytes and too many pixels are refused with both figures', () => {
  expect(imageProblem(new Uint8Array(MAX_IMAGE_BYTES + 1))).toBe(
    'is too large: it has 3.6 MB, and an image may have 3.5 MB',
  )
  expect(imageProblem(withWidth(8000))).toBeUndefined()
  expect(imageProblem(withWidth(8001))).toBe('is too large: it has 8001 × 1 pixels, and a side may have 8000')
})

test('a mission has a few images of limited size together', () => {
  expect(imagesProblem([])).toBeUndefined()
  expect(imagesProblem([1, 1, 1, 1, 1])).toBeUndefined()
  expect(imagesProblem([1, 1, 1, 1, 1, 1])).toBe('a mission may have 5 images')
  expect(imagesProblem([3_000_000, 2_000_000])).toBeUndefined()
  expect(imagesProblem([3_000_000, 2_000_001])).toMatch('5 MB together, and these have 5.1 MB')
})
