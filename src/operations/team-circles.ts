import * as z from 'zod'
import { Id } from '../domain/ids.ts'
import type { Team } from '../domain/records/team.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { circlesIn, waitInWords } from '../fleet/teams/circles.ts'

const Wait = z.object({
  member: z.string(),
  for: z.string().describe('who does not answer'),
  mail_id: Id,
  text: z.string().describe('the same in words'),
})
export const Circles = z
  .array(z.object({ members: z.array(z.string()).describe('their names'), waits: z.array(Wait) }))
  .describe("agents that wait for each other's answers, while none of them is at work; whoever leads was told")

export async function circlesOf(fleet: Fleet, team: Team): Promise<z.infer<typeof Circles>> {
  return (await circlesIn(fleet, team)).map(circle => ({
    members: circle.members.map(({ handle }) => handle),
    waits: circle.waits.map(each => ({
      ...{ member: each.member.handle, for: each.for.handle, mail_id: each.mail.id },
      text: waitInWords(each),
    })),
  }))
}
