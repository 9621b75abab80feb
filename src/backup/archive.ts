/** The content of a tar archive, read from bytes that anybody may have written. */

export interface Entry {
  /** Relative, without `.` and `..`. */
  path: string
  isFolder: boolean
  size: number
}

const BLOCK = 512
/** Enough for any name a disk allows, and for the other attributes of a file. */
const MOST_ABOUT = 8 * 1024
const MOST_NAME_BYTES = 255
const MOST_PATH_BYTES = 2048
const MOST_DEPTH = 64
/** Programs fill their last record with zeros. */
const MOST_FILLING = 1024 * 1024

const KINDS: Record<string, string> = {
  1: 'a hard link',
  2: 'a link',
  3: 'a device',
  4: 'a device',
  6: 'a FIFO',
}

/** Reads bytes in the requested sizes. */
export class Blocks {
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next bytes, padding included, at most `size`; empty at the end. */
  async #next(size: number): Promise<Buffer> {
    if (!this.#rest.length) this.#rest = (await this.#source.next()).value ?? this.#rest
    const piece = this.#rest.subarray(0, size)
    this.#rest = this.#rest.subarray(piece.length)
    return piece
  }

  /** The content of one entry. Reads its padding too. */
  async *pieces(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; ) {
      const piece = await this.#next(left)
      if (!piece.length) throw new Error('it was cut short')
      left -= piece.length
      yield piece
    }
    const padding = (BLOCK - (size % BLOCK)) % BLOCK
    for (let left = padding; left > 0; ) {
      const { length } = await this.#next(left)
      if (!length) throw new Error('it was cut short')
      left -= length
    }
  }

  async take(size: number): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(this.pieces(size)))
  }

  /** Reads to the end, which also checks that the compressed data is complete. */
  async requireEnd(): Promise<void> {
    for (let read = 0; ; ) {
      const piece = await this.#next(BLOCK * 128)
      if (!piece.length) return
      read += piece.length
      if (read > MOST_FILLING || piece.some(byte => byte !== 0)) throw new Error('there is data after its end')
    }
  }
}

/** The caller must read the content of each file before the next entry. */
export async function* entriesIn(blocks: Blocks): AsyncGenerator<Entry> {
  let about: About = {}
  for (;;) {
    const header = await blocks.take(BLOCK)
    if (header.every(byte => byte === 0)) return blocks.requireEnd()
    requireSum(header)
    const type = String.fromCharCode(header[156]!)
    const size = about.size ?? numberIn(header.subarray(124, 136))
    if (type === 'L' || type === 'x') {
      if (size > MOST_ABOUT) throw new Error('a name in it is too long')
      const text = await blocks.take(size)
      about = { ...about, ...(type === 'L' ? { name: untilNul(text) } : extended(text)) }
      continue
    }
    const path = pathOf(about.name ?? nameIn(header))
    const isFolder = type === '5'
    if (!isFolder && type !== '0' && type !== '\0')
      throw new Error(`${path} is ${KINDS[type] ?? 'neither a file nor a folder'}`)
    if (isFolder && size > 0) throw new Error(`${path} is a folder with content`)
    if (path || !isFolder) yield { path, isFolder, size }
    about = {}
  }
}

/** Attributes that the archive gives before the entry itself. */
interface About {
  name?: Buffer
  size?: number
}

/** Records of `length key=value`; two of them matter here. */
function extended(text: Buffer): About {
  const about: About = {}
  for (let at = 0; at < text.length; ) {
    const blank = text.indexOf(' ', at)
    const length = Number(text.subarray(at, blank).toString('latin1'))
    const record = text.subarray(blank + 1, at + length - 1)
    const [key] = record.toString('latin1').split('=', 1)
    if (blank < 0 || !Number.isInteger(length) || length < 5 || at + length > text.length)
      throw new Error('it cannot be read')
    const value = record.subarray(key!.length + 1)
    if (key === 'path') about.name = value
    if (key === 'size') about.size = sizeOf(value.toString('latin1'), 10)
    if (key!.startsWith('GNU.sparse')) throw new Error('a file in it is sparse')
    at += length
  }
  return about
}

function requireSum(header: Buffer): void {
  const said = numberIn(header.subarray(148, 156))
  const sum = header.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0)
  if (sum !== said) throw new Error('it is not a tar archive, or it was changed')
}

/** In octal digits, or as binary if the digits do not suffice. */
function numberIn(field: Buffer): number {
  if (field[0]! & 0x80) return sizeOf(`${BigInt(`0x${field.subarray(1).toString('hex')}`)}`, 10)
  return sizeOf(untilNul(field).toString('latin1').trim() || '0', 8)
}

function sizeOf(digits: string, base: number): number {
  const size = /^\d{1,20}$/.test(digits) ? Number.parseInt(digits, base) : Number.NaN
  if (!Number.isSafeInteger(size)) throw new Error('it cannot be read')
  return size
}

function nameIn(header: Buffer): Buffer {
  const name = untilNul(header.subarray(0, 100))
  // Other formats use these bytes for something else.
  const isPosix = header.subarray(257, 263).toString('latin1') === 'ustar\0'
  const folder = isPosix ? untilNul(header.subarray(345, 500)) : Buffer.alloc(0)
  return folder.length ? Buffer.concat([folder, Buffer.from('/'), name]) : name
}

function untilNul(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}

function pathOf(name: Buffer): string {
  if (name.length > MOST_PATH_BYTES) throw new Error('a name in it is too long')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(name)
  } catch {
    throw new Error('a name in it is not UTF-8')
  }
  if (/\p{Cc}/u.test(text)) throw new Error('a name in it has control characters')
  const parts = text.split('/').filter(part => part !== '' && part !== '.')
  if (text.startsWith('/') || parts.includes('..')) throw new Error(`${text} is outside the home`)
  if (parts.length > MOST_DEPTH) throw new Error('its folders are nested too deep')
  if (parts.some(part => Buffer.byteLength(part) > MOST_NAME_BYTES)) throw new Error('a name in it is too long')
  return parts.join('/')
}
