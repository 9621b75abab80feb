import * as z from 'zod'
import { artifactsOf, MOST_BYTES, readArtifact } from '../fleet/missions/artifacts.ts'
import { notesOf } from '../fleet/missions/notes.ts'
import { all, lookUp } from '../fleet/records.ts'
import { Ref } from './inputs.ts'
import { query } from './operation.ts'
import { QuestionView, questionView } from './talk.ts'

export const MissionNotes = z.object({
  folder: z.string().describe('where PLAN.md, KNOWLEDGE.md, questions.md and the artifacts are'),
  plan: z.string(),
  knowledge: z.string(),
  questions: z.array(QuestionView),
  artifacts: z.object({
    folder: z.string(),
    files: z.array(z.object({ path: z.string(), bytes: z.number() })),
    more: z.boolean().describe('there are more than are listed'),
  }),
})
export type MissionNotes = z.infer<typeof MissionNotes>

export const ArtifactPiece = z.object({
  path: z.string(),
  bytes: z.number().describe('of the whole file'),
  offset: z.number(),
  next_offset: z.number().nullable().describe('where the file goes on; null: this is the end'),
  encoding: z.enum(['utf8', 'base64']).describe('base64: it is no text'),
  content: z.string(),
})
export type ArtifactPiece = z.infer<typeof ArtifactPiece>

/** What a mission remembers from one session to the next. */
export const notes = [
  query({
    name: 'get_mission_notes',
    summary: 'What the agents of a mission noted for whoever goes on with it: plan, knowledge, questions, artifacts',
    http: 'GET /api/missions/:mission_id/notes',
    input: z.object({ mission_id: Ref }),
    output: MissionNotes,
    run: async ({ fleet }, { mission_id }) => {
      const { id } = (await lookUp(fleet, 'missions', mission_id)).value
      const questions = await Array.fromAsync(all(fleet, 'questions', 'mission', [id]))
      return {
        folder: fleet.home.task(id),
        ...notesOf(fleet, id),
        questions: await Promise.all(questions.map(({ value }) => questionView(fleet, value))),
        artifacts: artifactsOf(fleet, id),
      }
    },
  }),
  query({
    name: 'read_artifact',
    summary: 'A file that the agents of a mission left behind, piece by piece',
    http: 'GET /api/missions/:mission_id/artifacts/content',
    input: z.object({
      mission_id: Ref,
      path: z.string().min(1).max(4096).describe('as get_mission_notes lists it'),
      offset: z.number().int().min(0).default(0),
      limit: z.number().int().min(4).max(MOST_BYTES).default(MOST_BYTES).describe('how many bytes at most'),
    }),
    output: ArtifactPiece,
    run: async ({ fleet }, { mission_id, path, offset, limit }) => {
      const { id } = (await lookUp(fleet, 'missions', mission_id)).value
      const { bytes, content } = readArtifact(fleet, id, path, { offset, limit })
      const text = asText(content, offset + content.length >= bytes)
      const end = offset + (text?.bytes ?? content.length)
      return {
        ...{ path, bytes, offset },
        next_offset: end < bytes && end > offset ? end : null,
        encoding: text ? ('utf8' as const) : ('base64' as const),
        content: text?.text ?? content.toString('base64'),
      }
    },
  }),
]

/** A character that is cut in two belongs to the next piece. Undefined: it is no text. */
function asText(content: Buffer, isEnd: boolean): { text: string; bytes: number } | undefined {
  for (let cut = 0; cut <= (isEnd ? 0 : 3) && cut <= content.length; cut++) {
    const piece = content.subarray(0, content.length - cut)
    try {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(piece)
      return text.includes('\0') ? undefined : { text, bytes: piece.length }
    } catch {
      // Perhaps a character less is whole.
    }
  }
  return undefined
}
