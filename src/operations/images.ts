import * as z from 'zod'
import { NotFound } from '../domain/errors.ts'
import { MissionTemplate, TemplateName } from '../domain/records/template.ts'
import { ImageId } from '../domain/records/told.ts'
import { IMAGE_TYPES, MAX_IMAGE_BYTES } from '../domain/rules/images.ts'
import { imageNamed, type StoredImage, storeImage } from '../fleet/missions/images.ts'
import { templateNamed } from '../fleet/projects/templates.ts'
import { lookUp } from '../fleet/records.ts'
import { Ref } from './inputs.ts'
import { command, query } from './operation.ts'

const ImageView = z.object({
  image: ImageId.describe('its id, for the images of a mission'),
  type: z.enum(IMAGE_TYPES).describe('as its content says'),
  width: z.number().int(),
  height: z.number().int(),
  bytes: z.number().int(),
})

const imageView = ({ id, type, width, height, bytes }: StoredImage): z.infer<typeof ImageView> => ({
  ...{ image: id, type, width, height },
  bytes: bytes.length,
})

/** Twice what is allowed, in Base64, so that an image which is too large is refused with its size. */
const MAX_DATA_CHARS = Math.ceil((MAX_IMAGE_BYTES * 2) / 3) * 4
/** The braces and the name of the field. */
const AROUND_BYTES = 1000

export const images = [
  command({
    name: 'add_image',
    may: 'missions.create',
    mcp: 'control',
    summary: 'Store an image (PNG, JPEG, GIF or WebP) for a mission; name it in the images of create_mission',
    http: 'POST /api/images',
    bodyBytes: MAX_DATA_CHARS + AROUND_BYTES,
    input: z.object({ data: z.string().min(1).max(MAX_DATA_CHARS).describe('its content in Base64') }),
    output: ImageView,
    run: async ({ fleet }, { data }) => imageView(await storeImage(fleet, Buffer.from(data, 'base64'))),
  }),
  query({
    name: 'get_mission_image',
    may: 'missions.read',
    // It would fill the context of a model.
    mcp: false,
    summary: 'Read an image of a mission',
    http: 'GET /api/missions/:mission_id/images/:image',
    input: z.object({ mission_id: Ref, image: z.string().min(1).max(64).describe('one of its images') }),
    output: ImageView.extend({ data: z.string().describe('its content in Base64') }),
    run: async ({ fleet }, { mission_id, image }) => {
      const { value: mission } = await lookUp(fleet, 'missions', mission_id)
      // Other blobs hold texts of other missions.
      if (!mission.images.includes(image)) throw new NotFound('image', image)
      const stored = await imageNamed(fleet, image)
      return { ...imageView(stored), data: stored.bytes.toString('base64') }
    },
  }),
  query({
    name: 'get_template_image',
    may: 'missions.read',
    mcp: false,
    summary: 'Read an image of a template',
    http: 'GET /api/templates/:template/images/:image',
    input: z.object({ template: TemplateName, image: z.string().min(1).max(64).describe('one of its images') }),
    output: ImageView.extend({ data: z.string().describe('its content in Base64') }),
    run: async ({ fleet }, { template, image }) => {
      const { settings } = (await templateNamed(fleet, template, 'mission')).value
      if (!MissionTemplate.parse(settings).images.includes(image)) throw new NotFound('image', image)
      const stored = await imageNamed(fleet, image)
      return { ...imageView(stored), data: stored.bytes.toString('base64') }
    },
  }),
]
