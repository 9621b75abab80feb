import { MAX_IMAGES } from '../image-limits.ts'

/** What counts as an image of a mission. It is judged by its content: a name or a type that somebody claims says nothing. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
export type ImageType = (typeof IMAGE_TYPES)[number]

const MB = 1_000_000
/** In Base64 it stays below 5 MB, the most that the API of Claude takes. */
export const MAX_IMAGE_BYTES = 3.5 * MB
/** In Base64 they stay below the longest line of a transcript, because a client may repeat what it was sent. */
export const MAX_IMAGES_BYTES = 5 * MB
/** Providers take no larger ones, and a small file can hold a picture that fills the memory of a browser. */
const MAX_SIDE_PIXELS = 8000

export interface ImageFacts {
  type: ImageType
  width: number
  height: number
}

/** Why these bytes cannot be an image of a mission; undefined: they can. */
export function imageProblem(bytes: Uint8Array): string | undefined {
  if (bytes.length > MAX_IMAGE_BYTES)
    return `is too large: it has ${megabytes(bytes.length)} MB, and an image may have ${megabytes(MAX_IMAGE_BYTES)} MB`
  const facts = imageIn(bytes)
  if (!facts) return 'is not a PNG, JPEG, GIF or WebP image'
  const { type, width, height } = facts
  if (Math.max(width, height) > MAX_SIDE_PIXELS)
    return `is too large: it has ${width} × ${height} pixels, and a side may have ${MAX_SIDE_PIXELS}`
  return isWhole(type, bytes) ? undefined : 'is damaged: its end is missing'
}

/** Why a mission cannot have images of these sizes together; undefined: it can. */
export function imagesProblem(sizes: readonly number[]): string | undefined {
  if (sizes.length > MAX_IMAGES) return `a mission may have ${MAX_IMAGES} images`
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return total > MAX_IMAGES_BYTES
    ? `the images of a mission may have ${megabytes(MAX_IMAGES_BYTES)} MB together, and these have ${megabytes(total)} MB`
    : undefined
}

/** Rounded up, so that what is too large never looks as if it were not. */
const megabytes = (bytes: number): string => String(Math.ceil((bytes / MB) * 10) / 10)

/** The kind and the size of a picture. Undefined: it is none of the known kinds, or damaged. */
export function imageIn(bytes: Uint8Array): ImageFacts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const facts = png(view) ?? gif(view) ?? webp(view) ?? jpeg(view)
    return facts && facts.width > 0 && facts.height > 0 ? facts : undefined
  } catch (error) {
    // It ends in the middle of its header.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const letters = (view: DataView, at: number, count: number): string =>
  String.fromCharCode(...Array.from({ length: count }, (_, index) => view.getUint8(at + index)))

function png(view: DataView): ImageFacts | undefined {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a || letters(view, 12, 4) !== 'IHDR')
    return undefined
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) }
}

function gif(view: DataView): ImageFacts | undefined {
  if (!['GIF87a', 'GIF89a'].includes(letters(view, 0, 6))) return undefined
  return { type: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) }
}

function webp(view: DataView): ImageFacts | undefined {
  if (letters(view, 0, 4) !== 'RIFF' || letters(view, 8, 4) !== 'WEBP') return undefined
  const type = 'image/webp'
  switch (letters(view, 12, 4)) {
    case 'VP8 ':
      return { type, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    case 'VP8L': {
      const bits = view.getUint32(21, true)
      return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { type, width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 }
    default:
      return undefined
  }
}

const uint24 = (view: DataView, at: number): number => view.getUint16(at, true) + (view.getUint8(at + 2) << 16)

/** The marks that begin a frame with its size. C4, C8 and CC are something else. */
const isFrame = (mark: number): boolean => mark >= 0xc0 && mark <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(mark)

function jpeg(view: DataView): ImageFacts | undefined {
  if (view.getUint16(0) !== 0xffd8) return undefined
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const mark = view.getUint8(at + 1)
    if (mark === 0xff) at++
    else if (isFrame(mark)) return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    else at += 2 + view.getUint16(at + 2)
  }
  return undefined
}

/** Whether the end of a picture is there. Providers refuse one that was cut off, and the mission with it. */
function isWhole(type: ImageType, bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    if (type === 'image/png') return endOfPng(view) <= bytes.length
    if (type === 'image/gif') return endOfGif(view) <= bytes.length
    if (type === 'image/webp') return 8 + view.getUint32(4, true) <= bytes.length
    return hasEndOfJpeg(bytes)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function endOfPng(view: DataView): number {
  for (let at = 8; ; at += 12 + view.getUint32(at)) if (letters(view, at + 4, 4) === 'IEND') return at + 12
}

/** The size of a table of colours, if these flags say that there is one. */
const gifTable = (flags: number): number => (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0)

function endOfGif(view: DataView): number {
  for (let at = 13 + gifTable(view.getUint8(10)); ; at++) {
    const kind = view.getUint8(at)
    if (kind === 0x3b) return at + 1
    // Neither an image nor an extension: programs show what came before.
    if (kind !== 0x2c && kind !== 0x21) return at
    at += kind === 0x2c ? 11 + gifTable(view.getUint8(at + 9)) : 2
    // Blocks up to an empty one.
    while (view.getUint8(at) > 0) at += 1 + view.getUint8(at)
  }
}

/** The mark at the end. Others may put something behind it. */
function hasEndOfJpeg(bytes: Uint8Array): boolean {
  for (let at = bytes.length - 2; at > 1; at--) if (bytes[at] === 0xff && bytes[at + 1] === 0xd9) return true
  return false
}
