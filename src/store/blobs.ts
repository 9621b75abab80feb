import { access, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { NotFound } from '../domain/errors.ts'
import { INLINE_TEXT_BYTES, type StoredText } from '../domain/text.ts'
import { effect } from '../platform/effects.ts'

/** How much of a long text a record keeps. */
const HEAD_CHARACTERS = 400
const HASH = /^[0-9a-f]{64}$/

export interface BlobText {
  blob: string
  bytes: number
  head: string
}

export interface Blobs {
  put(text: string): Promise<BlobText>
  get(hash: string): Promise<string>
  /** For an image. Returns its hash. */
  putBytes(bytes: Buffer): Promise<string>
  getBytes(hash: string): Promise<Buffer>
  /** Inline when it is short, a blob otherwise. */
  keep(text: string): Promise<StoredText>
  read(stored: StoredText): Promise<string>
}

/** Long texts and images as files named by their content: each is written once, never changed, and stored once. */
export function openBlobs(directory: string): Blobs {
  const putBytes = async (bytes: Buffer): Promise<string> => {
    const hash = await hashOf(bytes as Buffer<ArrayBuffer>)
    const file = join(directory, hash)
    if (!(await exists(file))) await writeWhole(directory, file, bytes)
    return hash
  }
  const put = async (text: string): Promise<BlobText> => {
    const bytes = Buffer.from(text)
    return { blob: await putBytes(bytes), bytes: bytes.length, head: beginning(text) }
  }
  const getBytes = async (hash: string): Promise<Buffer> => {
    if (!HASH.test(hash)) throw new NotFound('text', hash)
    try {
      return await readFile(join(directory, hash))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new NotFound('text', hash)
      throw error
    }
  }
  const get = async (hash: string): Promise<string> => (await getBytes(hash)).toString('utf8')
  return {
    put,
    get,
    putBytes,
    getBytes,
    keep: async text => (Buffer.byteLength(text) < INLINE_TEXT_BYTES ? { inline: text } : put(text)),
    read: async stored => ('inline' in stored ? stored.inline : get(stored.blob)),
  }
}

/** The global crypto is loaded when first used: importing node:crypto costs every command 4 ms at its start. */
const hashOf = async (bytes: Buffer<ArrayBuffer>): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

/** The name appears only once the whole content is there, and both are on disk before a record can refer to them. */
async function writeWhole(directory: string, file: string, bytes: Buffer): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const temporary = join(directory, `.${crypto.randomUUID()}`)
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await effect('blob.rename', () => rename(temporary, file))
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncDirectory(directory)
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Never ends in half a character. */
function beginning(text: string): string {
  const head = text.slice(0, HEAD_CHARACTERS)
  return head.isWellFormed() || !text.isWellFormed() ? head : head.slice(0, -1)
}
