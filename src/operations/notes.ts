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
  bytes: z.number().describe('the size of the whole file'),
  offset: z.number(),
  next_offset: z.number().nullable().describe('where the file continues; null: this is the end'),
  encoding: z.enum(['utf8', 'base64']).describe('base64: the file is not text'),
  content: z.string(),
})
export type ArtifactPiece = z.infer<typeof ArtifactPiece>

/** What a mission remembers from one session to the next. */
export const notes = [
  query({
    name: 'get_mission_notes',
    may: 'missions.read',
    mcp: 'missions',
    summary: 'Read what the agents of a mission noted for its next session: plan, knowledge, questions, artifacts',
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
    may: 'missions.read',
    mcp: { set: 'missions', defaults: { limit: 50_000 } },
    summary: 'Read a file that the agents of a mission left, in pieces',
    http: 'GET /api/missions/:mission_id/artifacts/content',
    input: z.object({
      mission_id: Ref,
      path: z.string().min(1).max(4096).describe('as listed by get_mission_notes'),
      offset: z.number().int().min(0).default(0),
      limit: z.number().int().min(4).max(MOST_BYTES).default(MOST_BYTES).describe('the most bytes to return'),
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

/** Leaves a character that is cut in two to the next piece. Undefined if the content is not text. */
function asText(content: Buffer, isEnd: boolean): { text: string; bytes: number } | undefined {
  for (let cut = 0; cut <= (isEnd ? 0 : 3) && cut <= content.length; cut++) {
    const piece = content.subarray(0, content.length - cut)
    try {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(piece)
      return text.includes('\0') ? undefined : { text, bytes: piece.length }
    } catch {
      // The last character may be cut: try with one byte less.
    }
  }
  return undefined
}
