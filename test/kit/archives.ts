import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGzip, gzipSync } from 'node:zlib'

export interface Entry {
  name: string | Buffer
  /** As tar writes it: 0 a file, 1 a hard link, 2 a link, 3 and 4 devices, 5 a folder, 6 a FIFO. */
  type?: string
  content?: string | Buffer
  /** The declared size, whatever the content is. */
  size?: number
  mode?: number
  link?: string
}

const BLOCK = 512
const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)])

export function header({ name, type = '0', content = '', size, mode = 0o644, link = '' }: Entry): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, length: number) =>
    block.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1')
  Buffer.from(name).copy(block, 0, 0, 100)
  octal(mode, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size ?? Buffer.from(content).length, 124, 12)
  octal(0, 136, 12)
  block.write(type, 156, 'latin1')
  block.write(link, 157, 100)
  block.write('ustar\x0000', 257, 'latin1')
  block.fill(' ', 148, 156)
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  return block
}

const tarOf = (entry: Entry): Buffer => Buffer.concat([header(entry), padded(Buffer.from(entry.content ?? ''))])

/** An archive with any entries, in this order. */
export const archiveOf = (entries: readonly Entry[]): Buffer =>
  gzipSync(Buffer.concat([...entries.map(tarOf), Buffer.alloc(2 * BLOCK)]))

/** The manifest of these files. */
export function manifestOf(files: readonly Entry[], more: object = {}): Entry {
  const about = files.map(({ name, content = '' }) => {
    const bytes = Buffer.from(content)
    return [String(name), { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }]
  })
  const manifest = {
    ...{ format: 1, version: '0', made_at: '2026-01-01T00:00:00.000Z', host: 'elsewhere', home: '/elsewhere' },
    ...{ tokens: false, left_out: [], files: Object.fromEntries(about), ...more },
  }
  return { name: 'manifest.json', content: JSON.stringify(manifest) }
}

/** A small file that unpacks to this many megabytes of zeros. */
export async function bomb(file: string, entry: Entry, megabytes: number): Promise<void> {
  const megabyte = Buffer.alloc(1024 * 1024)
  async function* bytes() {
    yield header({ size: megabytes * megabyte.length, ...entry })
    for (let n = 0; n < megabytes; n++) yield megabyte
    yield Buffer.alloc(2 * BLOCK)
  }
  await pipeline(bytes(), createGzip(), createWriteStream(file))
}
