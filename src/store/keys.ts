import { InvalidInput } from '../domain/errors.ts'
import type { KeyPart } from './collections.ts'
import type { Query } from './port.ts'

/**
 * Encodes index keys as bytes whose binary order is the order of the parts, so that every engine sorts alike. Each part
 * has an end mark, so that keys of different shapes do not mix: ['a', 'b'] never sorts among ['ab'].
 */
const NUMBER = 0x10
const TEXT = '\x20'
const END_OF_TEXT = '\0'
/** Higher than every byte that can begin a part or continue a text. */
const PAST = Buffer.from([0xff])

export function encodeKey(parts: readonly KeyPart[]): Buffer {
  return Buffer.concat(parts.map(part => (typeof part === 'number' ? encodeNumber(part) : encodeText(part))))
}

/** A zero byte ends a text. Inside it, zeros are written as 1 1 and ones as 1 2, which keeps their order. */
const beginText = (text: string): string => TEXT + text.replaceAll('\x01', '\x01\x02').replaceAll('\0', '\x01\x01')
const encodeText = (text: string): Buffer => Buffer.from(beginText(text) + END_OF_TEXT)

/** IEEE doubles sort as bytes once the sign bit is flipped, or for negative numbers all bits. */
function encodeNumber(value: number): Buffer {
  if (Number.isNaN(value)) throw new TypeError('NaN has no place in an index')
  const bytes = Buffer.alloc(9)
  bytes[0] = NUMBER
  bytes.writeDoubleBE(value === 0 ? 0 : value, 1)
  const flip = value < 0 ? 0xff : 0
  for (let at = 1; at < 9; at++) bytes[at]! ^= flip
  if (!flip) bytes[1]! ^= 0x80
  return bytes
}

/** The keys that match a query and its cursor: from `low` (inclusive) to `high` (exclusive). */
export function rangeOf(query: Query): { low: Buffer; high: Buffer } {
  const lead = encodeKey(query.equals ?? [])
  const lows: Buffer[] = [lead]
  const highs: Buffer[] = [Buffer.concat([lead, PAST])]
  if (query.prefix !== undefined) {
    const begin = Buffer.concat([lead, Buffer.from(beginText(query.prefix))])
    lows.push(begin)
    highs.push(Buffer.concat([begin, PAST]))
  }
  if (query.from !== undefined) lows.push(Buffer.concat([lead, encodeKey([query.from])]))
  if (query.below !== undefined) highs.push(Buffer.concat([lead, encodeKey([query.below])]))
  if (query.cursor !== undefined) {
    const last = keyOfCursor(query.cursor)
    if (query.newestFirst) highs.push(last)
    else lows.push(Buffer.concat([last, Buffer.alloc(1)]))
  }
  return { low: lows.sort(Buffer.compare).at(-1)!, high: highs.sort(Buffer.compare)[0]! }
}

/** A cursor is the key of the last item returned, so records that are added or removed later do not shift it. */
export const cursorOfKey = (key: Buffer): string => key.toString('base64url')

function keyOfCursor(cursor: string): Buffer {
  const key = Buffer.from(cursor, 'base64url')
  if (!key.length || cursorOfKey(key) !== cursor) throw badCursor('cursor')
  return key
}

export function sequenceOfCursor(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw badCursor('after')
  return Number(cursor)
}

/** Lists continue from a `cursor`; events are read `after` one. */
export const badCursor = (field: 'cursor' | 'after'): InvalidInput =>
  new InvalidInput(field, 'this is not a cursor of this store', { try: 'Leave it out to start at the beginning.' })
