import { createHash } from 'node:crypto'

/** An id that is made from what it stands for, so that the same thing cannot be made twice. */
export function derivedId(...parts: string[]): string {
  return BigInt(`0x${createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 20)}`)
    .toString(36)
    .padStart(12, '0')
    .slice(0, 12)
}
