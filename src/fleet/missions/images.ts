import { join } from 'node:path'
import { InvalidInput, NotFound } from '../../domain/errors.ts'
import type { Told } from '../../domain/records/told.ts'
import { type ImageFacts, imageIn, imageProblem, imagesProblem } from '../../domain/rules/images.ts'
import { nameOf } from '../../platform/launch-folder.ts'
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

/** What an agent is told, as it is stored. Null: nothing. */
export async function keepTold(fleet: Fleet, words = '', images: readonly string[] = []): Promise<Told | null> {
  await requireStored(fleet, images)
  return words || images.length ? withImages(await fleet.blobs.keep(words), images) : null
}

export const withImages = (words: Told, images: readonly string[]): Told =>
  images.length ? { ...words, images: [...images] } : words

/**
 * The images that fit together, the first ones first, and a sentence for the agent about those that do not. Several
 * messages may bring more than one may have.
 */
export async function fitting(
  fleet: Fleet,
  ids: readonly string[],
): Promise<{ images: string[]; leftOut: string | null }> {
  const taken: string[] = []
  const sizes: number[] = []
  for (const id of new Set(ids)) {
    const { length } = (await imageNamed(fleet, id)).bytes
    if (imagesProblem([...sizes, length])) continue
    taken.push(id)
    sizes.push(length)
  }
  const left = new Set(ids).size - taken.length
  return { images: taken, leftOut: left ? `(${left} more of the images did not fit and are not shown.)` : null }
}

/** Images as files of a launch; `name` is the path in its folder. */
export const picturesOf = (fleet: Fleet, images: readonly string[]) =>
  Promise.all(
    images.map(async (id, index) => {
      const { type, bytes } = await imageNamed(fleet, id)
      return { type, bytes, name: join(nameOf('images'), `${index + 1}.${type.slice('image/'.length)}`) }
    }),
  )

export async function requireStored(fleet: Fleet, ids: readonly string[]): Promise<void> {
  if (new Set(ids).size < ids.length) throw new InvalidInput('images', 'has the same image twice')
  const sizes: number[] = []
  for (const id of ids) sizes.push((await imageNamed(fleet, id)).bytes.length)
  const problem = imagesProblem(sizes)
  if (problem) throw new InvalidInput('images', problem)
}
