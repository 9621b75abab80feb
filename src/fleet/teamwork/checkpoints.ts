import { NotAllowed } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { Checkpoint, Standing } from '../../domain/records/checkpoint.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Member, Team } from '../../domain/records/team.ts'
import * as rules from '../../domain/rules/checkpoint.ts'
import type { By } from '../../domain/rules/life.ts'
import { saying } from '../../domain/rules/mail-prompt.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import type { Batch } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { snapshotOf } from '../delegation/delegation.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, current, derivedId, put } from '../records.ts'
import { mailing, type Sender } from '../teams/mail.ts'
import { nextOrder } from '../teams/order.ts'
import { aboutTeam, requireTeam } from '../teams/teams.ts'
import { authorOf } from './board.ts'

export interface NewCheckpoint {
  standing: Standing
  to: Member
  /** The session whose worktree is kept with it. Absent: a person writes it. */
  session?: Session
  /** Wakes whoever takes over. */
  wake: boolean
}

/** Writes down how a member's work stands. Whoever else it is addressed to gets mail in the same commit. */
export async function createCheckpoint(
  fleet: Fleet,
  ask: Ask,
  team: Team,
  from: Member,
  { standing, to, session, wake }: NewCheckpoint,
): Promise<Checkpoint> {
  // With a key, the same request makes the same snapshot again.
  const id = ask.key ? derivedId('checkpoint', ask.operation, ask.actor, ask.key) : newId()
  const known = await fleet.store.get('checkpoints', id)
  const work = known ? { commit: null } : await workOf(fleet, session, id)
  const text = await fleet.blobs.keep(JSON.stringify(standing))
  const body = await fleet.blobs.keep(rules.standingInWords(standing))
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'teams', team.id)
    requireTeam(value)
    const when = by(fleet, ask)
    const checkpoint = Checkpoint.parse({
      ...{ id, team_id: team.id, project_id: team.project_id, from: authorOf(from) },
      ...{ to: { member_id: to.id, handle: to.handle }, goal: standing.goal, standing: text, ...work },
      ...{ order: nextOrder(when.now), created_at: when.now },
    })
    const subject = clipped(`Checkpoint ${id}: ${standing.goal.replace(/\s+/g, ' ')}`, 200)
    const told: Batch =
      to.id === from.id
        ? { changes: [], checks: [{ collection: 'teams', id: team.id, expects: version }] }
        : await letter(fleet, team, from, { to, subject, body, wake, id }, when)
    return {
      subject: id,
      ...told,
      changes: [...told.changes, put('checkpoints', checkpoint, 'absent')],
      events: [
        ...(told.events ?? []),
        aboutTeam(team, 'checkpoint_created', when, { checkpoint: id, from: from.handle, to: to.handle }),
      ],
    }
  })
  return (await current(fleet, 'checkpoints', id)).value
}

/** Its worktree as a commit, taken in without the agent's own git. What cannot be kept is said. */
async function workOf(
  fleet: Fleet,
  session: Session | undefined,
  id: string,
): Promise<Pick<Checkpoint, 'commit' | 'no_commit'>> {
  if (!session) return { commit: null, no_commit: 'A person has no worktree.' }
  try {
    const { value: project } = await current(fleet, 'projects', session.project_id)
    return { commit: await snapshotOf(fleet, session, project, id), no_commit: null }
  } catch (error) {
    if (!(error instanceof NotAllowed)) throw error
    return { commit: null, no_commit: clipped(error.message, MAX_REASON_CHARS) }
  }
}

interface Note {
  to: Pick<Member, 'handle'>
  subject: string
  body: Parameters<typeof mailing>[3]['body']
  wake: boolean
  id: string
}

async function letter(fleet: Fleet, team: Team, from: Sender, note: Note, when: By): Promise<Batch> {
  const { to, id, ...rest } = note
  const plain = { priority: 'normal', needs: 'none', deadline: null, reply_to: null } as const
  const wanted = { ...plain, ...rest, to: [to.handle], id: derivedId('mail', 'checkpoint', id, to.handle) }
  return (await mailing(fleet, team.id, from, wanted, when)).batch
}

/** Of many who decide at once, one does. Its author is told. */
export async function decideCheckpoint(
  fleet: Fleet,
  id: string,
  member: Member,
  decision: 'accepted' | 'rejected',
  { outcome, actor }: { outcome: string | null; actor: string },
): Promise<Checkpoint> {
  const body = await fleet.blobs.keep(
    `${member.handle} ${decision} checkpoint ${id}${outcome ? ` and says ${saying(outcome)}` : '.'}`,
  )
  return retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'checkpoints', id)
    const when = { actor, now: fleet.now() }
    const next = rules.decided(value, member, decision, { outcome, now: when.now })
    const { value: team } = await current(fleet, 'teams', value.team_id)
    const author = team.roster.find(({ member_id }) => member_id === value.from.member_id)
    const tells = author && author.member_id !== member.id && team.ended_at === null
    const note = { to: author!, subject: `Checkpoint ${decision}`, body, wake: false, id: `${id} ${decision}` }
    const told: Batch = tells ? await letter(fleet, team, 'fleet', note, when) : { changes: [] }
    await fleet.commit('commit.wish', {
      ...told,
      changes: [...told.changes, put('checkpoints', next, version)],
      events: [
        ...(told.events ?? []),
        aboutTeam(team, 'checkpoint_decided', when, { checkpoint: id, decision, by: member.handle }),
      ],
    })
    return next
  })
}

/** The next session of a member is told about it. */
export async function loadCheckpoint(fleet: Fleet, id: string, member: Member, actor: string): Promise<Checkpoint> {
  return retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'checkpoints', id)
    const when = { actor, now: fleet.now() }
    const next: Checkpoint = { ...value, loading: { member_id: member.id, session_id: null } }
    await fleet.commit('commit.wish', {
      changes: [put('checkpoints', next, version)],
      events: [
        aboutTeam({ id: value.team_id, project_id: value.project_id }, 'checkpoint_loaded', when, {
          ...{ checkpoint: id, member: member.id, handle: member.handle },
        }),
      ],
    })
    return next
  })
}

export const standingOf = async (fleet: Fleet, { standing }: Checkpoint): Promise<Standing> =>
  Standing.parse(JSON.parse(await fleet.blobs.read(standing)))

/** The checkpoints that were loaded for a member, for the prompt of a session that is about to start. */
export async function handCheckpoints(fleet: Fleet, session: Session): Promise<string> {
  const loaded = await Array.fromAsync(all(fleet, 'checkpoints', 'loading', [session.member_id!]))
  const words = loaded.map(({ value }) =>
    retryOnConflict(async () => {
      const { value: checkpoint, version } = await current(fleet, 'checkpoints', value.id)
      const { loading } = checkpoint
      if (loading?.member_id !== session.member_id) return ''
      const before = loading.session_id ? (await fleet.store.get('sessions', loading.session_id))?.value : undefined
      const move = rules.loadedFor(checkpoint, session.id, () => before?.outcome === 'completed')
      const next = move === 'tell' ? { ...loading, session_id: session.id } : null
      if (next?.session_id !== loading.session_id)
        await fleet.commit('commit.checkpoint-handed', {
          changes: [put('checkpoints', { ...checkpoint, loading: next }, version)],
        })
      return next ? rules.checkpointInWords(checkpoint, await standingOf(fleet, checkpoint)) : ''
    }),
  )
  return (await Promise.all(words)).filter(Boolean).join('\n\n')
}
