import * as z from 'zod'
import { MAX_IMAGES } from '../image-limits.ts'
import { StoredText } from '../text.ts'

/** The hash of its content, by which a stored image is known. */
export const ImageId = z.string().regex(/^[0-9a-f]{64}$/, 'is not the id of an image: add_image gives one')

/** The images of something that a person writes to an agent. */
export const Images = z.array(ImageId).max(MAX_IMAGES)

/** What an agent is told: words, and images that it is shown with them. */
export const Told = z.intersection(StoredText, z.object({ images: Images.optional() }))
export type Told = z.infer<typeof Told>
