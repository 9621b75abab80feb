import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { Author } from './board.ts'

export const MAX_PATTERN_CHARS = 200

/** A member says that it is about to change files. Nobody is kept from writing. */
export const Reservation = z.object({
  id: Id,
  team_id: Id,
  project_id: Id,
  holder: Author,
  file: z.string().max(MAX_PATTERN_CHARS).describe('a file, a folder or a pattern, from the root of the project'),
  reason: z.string().max(300).default(''),
  session_id: Id.nullable().default(null).describe('it ends with this session'),
  mission_id: Id.nullable().default(null).describe('it ends with this task'),
  created_at: Timestamp,
})
export type Reservation = z.infer<typeof Reservation>
