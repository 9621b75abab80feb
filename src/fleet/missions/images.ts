import { InvalidInput, NotFound } from '../../domain/errors.ts'
import { type ImageFacts, imageIn, imageProblem, imagesProblem } from '../../domain/rules/images.ts'
import type { Fleet } from '../fleet.ts'

export interface StoredImage extends ImageFacts {
  id: string
  bytes: Buffer
}

/** Stores an image under the hash of its content. */
export async function storeImage(fleet: Fleet, bytes: Buffer): Promise<StoredImage> {
  const problem = imageProblem(bytes)
  if (problem) throw new InvalidInput('data', problem)
  return { id: await fleet.blobs.putBytes(bytes), bytes, ...imageIn(bytes)! }
}

/** Judged again by its content: the hash may be that of a text. */
export async function imageNamed(fleet: Fleet, id: string): Promise<StoredImage> {
  const bytes = await fleet.blobs.getBytes(id).catch(error => {
    throw error instanceof NotFound ? new NotFound('image', id) : error
  })
  const facts = imageProblem(bytes) ? undefined : imageIn(bytes)
  if (!facts) throw new NotFound('image', id)
  return { id, bytes, ...facts }
}

export async function requireStored(fleet: Fleet, ids: readonly string[]): Promise<void> {
  if (new Set(ids).size < ids.length) throw new InvalidInput('images', 'has the same image twice')
  const sizes: number[] = []
  for (const id of ids) sizes.push((await imageNamed(fleet, id)).bytes.length)
  const problem = imagesProblem(sizes)
  if (problem) throw new InvalidInput('images', problem)
}
