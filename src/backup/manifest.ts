import { createHash } from 'node:crypto'
import { createReadStream, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { Unfit } from '../domain/errors.ts'
import { belongs, MANIFEST } from './contents.ts'

const FORMAT = 1

/** The description inside a backup. */
export const Manifest = z.object({
  format: z.literal(FORMAT).default(FORMAT),
  version: z.string().describe('the version of the program that made it'),
  made_at: z.string(),
  host: z.string(),
  home: z.string().describe('where the home was'),
  tokens: z.boolean(),
  left_out: z.array(z.string()),
  files: z.record(z.string(), z.object({ bytes: z.number().int(), sha256: z.string() })),
})
export type Manifest = z.infer<typeof Manifest>

export async function fingerprint(file: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(file)) {
    bytes += chunk.length
    hash.update(chunk)
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Checks that every file in the manifest is there and unchanged, and that there is nothing else. */
export async function verified(folder: string, archive: string): Promise<Manifest> {
  const manifest = readManifest(folder, archive)
  const found = new Set(everyFile(folder, archive).filter(path => path !== MANIFEST))
  const missing = Object.keys(manifest.files).find(path => !found.has(path))
  if (missing) throw damaged(archive, `${missing} is missing`)
  for (const path of found) {
    const said = manifest.files[path]
    if (!said || !(path === 'store.db' || belongs(path, false))) throw damaged(archive, `${path} does not belong to it`)
    const { bytes, sha256 } = await fingerprint(join(folder, path))
    if (bytes !== said.bytes || sha256 !== said.sha256) throw damaged(archive, `${path} was changed`)
  }
  return manifest
}

function readManifest(folder: string, archive: string): Manifest {
  let text: string
  try {
    text = readFileSync(join(folder, MANIFEST), 'utf8')
  } catch {
    throw damaged(archive, `it has no ${MANIFEST}`)
  }
  try {
    return Manifest.parse(JSON.parse(text))
  } catch (cause) {
    throw damaged(archive, `its ${MANIFEST} cannot be read, or has a newer format`, cause)
  }
}

function everyFile(root: string, archive: string, folder = ''): string[] {
  return readdirSync(join(root, folder)).flatMap(name => {
    const path = folder ? `${folder}/${name}` : name
    const kind = lstatSync(join(root, path))
    if (kind.isDirectory()) return everyFile(root, archive, path)
    if (!kind.isFile()) throw damaged(archive, `${path} is not a plain file`)
    return [path]
  })
}

export const damaged = (archive: string, problem: string, cause?: unknown): Unfit =>
  new Unfit(`${archive} is not a complete backup of a home: ${problem}.`, {
    try: 'Nothing was restored. Use another copy of it.',
    cause,
  })
