import * as z from 'zod'
import { NotFound } from '../../../domain/errors.ts'
import { type Asker, type Route, route } from './route.ts'
import { ownHandle, requireSelf, type Team, teamFor } from './who.ts'
import { type Checkpoint, handoffOf, isUnread, type Letter, mailOf } from './words.ts'

const Name = z.string().min(1).max(50)
const LIMIT = 200

export const MAIL_ROUTES: readonly Route[] = [
  route(
    'POST /mail',
    z.object({
      from: Name,
      to: Name,
      body: z.string().min(1).max(50_000),
      subject: z.string().max(200).optional(),
    }),
    async (asker, { from, to, body, subject }) => {
      const team = await teamFor(asker)
      requireSelf(asker.caller, team, 'from', from)
      const wanted = { team_id: team.id, to: [to], body, ...(subject && { subject }), wake: true }
      return mailOf(await asker.ask<Letter>('send_mail', wanted), to)
    },
  ),
  route('GET /mail/:handle', z.object({ handle: Name }), async (asker, { handle }) => lettersTo(asker, handle)),
  route('GET /mail/:handle/unread', z.object({ handle: Name }), async (asker, { handle }) =>
    (await lettersTo(asker, handle)).filter(({ readAt }) => readAt === null),
  ),
  route('POST /mail/:id/read', z.object({ id: z.string().max(120) }), async (asker, { id }) => {
    const { id: whole, team_id } = await asker.ask<Letter & { team_id: string }>('get_mail', { mail_id: id })
    const inTeam = asker.caller.kind === 'session' ? {} : { team_id }
    await asker.ask('read_mail', { ...inTeam, filter: 'all', mail_ids: [whole], mark_read: true, limit: LIMIT })
    return { success: true, id: whole }
  }),
  route(
    'POST /handoffs',
    z.object({ from: Name, to: Name, context: z.record(z.string(), z.unknown()) }),
    async (asker, { from, to, context }) => {
      const team = await teamFor(asker)
      requireSelf(asker.caller, team, 'from', from)
      const wanted = { team_id: team.id, to, context: JSON.stringify(context, null, 1) }
      return handoffOf(await asker.ask<Checkpoint>('team_handoff', wanted))
    },
  ),
  route('GET /handoffs/:handle', z.object({ handle: Name }), async (asker, { handle }) => {
    const team = await teamFor(asker)
    const wanted = { team_id: team.id, to_handle: handle, state: 'open', limit: LIMIT }
    const { checkpoints } = await asker.ask<{ checkpoints: Checkpoint[] }>('checkpoint_list', wanted)
    return checkpoints.map(handoffOf)
  }),
]

/** The newest letters to a member. One's own are asked for in another way, because an agent may ask for no others. */
async function lettersTo(asker: Asker, handle: string) {
  const team = await teamFor(asker)
  const isOwn = handle.toLowerCase() === ownHandle(asker.caller, team).toLowerCase()
  const reader = team.members.find(each => each.handle.toLowerCase() === handle.toLowerCase())
  if (!isOwn && !reader) throw new NotFound(`member of ${team.name}`, handle)
  const { messages } = isOwn ? await ownLetters(asker, team) : await allLetters(asker, team)
  // Another member may have had the name before.
  return messages
    .filter(({ deliveries }) => deliveries.some(each => each.member_id === reader?.id && isKept(each.state)))
    .map(letter => mailOf(letter, handle))
}

const isKept = (state: string): boolean => isUnread(state) || !['cancelled', 'expired', 'bounced'].includes(state)

const ownLetters = ({ ask }: Asker, { id: team_id }: Team) =>
  ask<{ messages: Letter[] }>('read_mail', { team_id, filter: 'all', mark_read: false, limit: LIMIT })
const allLetters = ({ ask }: Asker, { id: team_id }: Team) =>
  ask<{ messages: Letter[] }>('list_mail', { team_id, limit: LIMIT })
