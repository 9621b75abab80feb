import type { Digest } from '../../agents/index.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Delivery, Mail } from '../../domain/records/team.ts'
import * as rules from '../../domain/rules/mail.ts'
import { MOST_IN_PROMPT } from '../../domain/rules/mail-outlook.ts'
import { type Letter, lettersInWords, MOST_CHARS, type Rest } from '../../domain/rules/mail-prompt.ts'
import type { StoredText } from '../../domain/text.ts'
import type { Change, Stored } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { messageTo } from '../questions/messages.ts'
import { all, current, put } from '../records.ts'
import { handedTo, settleEarlier } from './settling.ts'
import { aboutTeam } from './teams.ts'

const MOST_AT_ONCE = 20
/** Of a prompt that is longer, clients and models take nothing at all. */
const MOST_PROMPT_CHARS = 4 * MOST_CHARS

export interface HandedMail {
  /** For the prompt. */
  words: string
  /** One JSON object per message, for scripts. */
  lines: string
}

const NO_MAIL: HandedMail = { words: '', lines: '' }

/**
 * Puts queued mail into the prompt of a session that is about to start. A launch that is repeated after a crash gets
 * what was handed to the same session before. The sessions before have returned theirs by then, and what they heard
 * without an answer is told again to a conversation that begins anew.
 */
export async function handToPrompt(fleet: Fleet, session: Session): Promise<HandedMail> {
  const { member_id } = session
  if (!member_id) return NO_MAIL
  await settleEarlier(fleet, session)
  return retryOnConflict(async () => {
    const before = (await handedTo(fleet, session.id)).filter(({ value }) => value.state === 'handed')
    const query = { index: 'queued', equals: [member_id], limit: 2 * MOST_IN_PROMPT }
    const { items: queued, cursor } = await fleet.store.find('deliveries', query)
    // What is owed may fill a prompt. The oldest new message comes before it, so that none waits for ever.
    const items = [...queued.slice(0, 1), ...(await owedBy(fleet, session)), ...queued.slice(1)]
    const fresh = items.slice(0, await howManyFit(fleet, before, items))
    const now = fleet.now()
    const next = fresh.map(({ value, version }) => ({
      value: rules.handed(value, { session_id: session.id, via: 'prompt' }, now),
      version,
    }))
    if (next.length)
      await fleet.commit('commit.mail-handed', {
        changes: next.map(({ value, version }) => put('deliveries', value, version)),
        events: [aboutHanded(session, next)],
      })
    const letters = await lettersOf(fleet, [...before, ...next])
    const left = items.slice(fresh.length)
    const rest: Rest = {
      count: cursor ? await queuedFor(fleet, member_id) : left.length,
      listed: await mailsOf(fleet, left.slice(0, MOST_IN_PROMPT)),
    }
    return { words: lettersInWords(letters, rest), lines: letters.map(inJson).join('') }
  })
}

/** What a member heard in a conversation that does not go on, and has not answered. A script decides that itself. */
async function owedBy(fleet: Fleet, { agent, member_id, resumes }: Session): Promise<Stored<Delivery>[]> {
  if (resumes !== null || fleet.agents.ofSession(agent).can.scripts) return []
  const open = await Array.fromAsync(all(fleet, 'deliveries', 'open', [member_id!]))
  return open.filter(({ value }) => value.state === 'heard')
}

/** At most this many are counted. */
const MOST_COUNTED = 500

async function queuedFor(fleet: Fleet, memberId: string): Promise<number> {
  const query = { index: 'queued', equals: [memberId], limit: MOST_COUNTED }
  return (await fleet.store.find('deliveries', query)).items.length
}

/** How many of the queued messages fit into a prompt beside those that are in it. At least one does. */
async function howManyFit(
  fleet: Fleet,
  before: readonly Stored<Delivery>[],
  queued: readonly Stored<Delivery>[],
): Promise<number> {
  const room = Math.max(0, MOST_IN_PROMPT - before.length)
  let chars = 0
  for (const { body } of await mailsOf(fleet, before)) chars += charsOf(body)
  let fit = 0
  for (const { body } of await mailsOf(fleet, queued.slice(0, room))) {
    chars += charsOf(body)
    if (chars > MOST_PROMPT_CHARS && before.length + fit > 0) break
    fit++
  }
  return fit
}

const charsOf = (body: StoredText): number => Math.min(MOST_CHARS, 'inline' in body ? body.inline.length : body.bytes)

const mailsOf = async (fleet: Fleet, deliveries: readonly Stored<Delivery>[]): Promise<Mail[]> => {
  const found = await Promise.all(deliveries.map(({ value }) => fleet.store.get('mail', value.mail_id)))
  return found.flatMap(stored => stored?.value ?? [])
}

function aboutHanded({ id, member_id, project_id }: Session, handed: readonly Stored<Delivery>[]) {
  const { team_id } = handed[0]!.value
  const mails = handed.map(({ value }) => value.mail_id)
  const when = { actor: 'fleet', now: handed[0]!.value.handed_at! }
  return aboutTeam({ id: team_id, project_id }, 'mail_handed', when, { member: member_id, mails, session: id })
}

async function lettersOf(fleet: Fleet, deliveries: readonly Stored<Delivery>[]): Promise<Letter[]> {
  const found = await Promise.all(
    deliveries.map(async ({ value: delivery }) => {
      const mail = (await fleet.store.get('mail', delivery.mail_id))?.value
      return mail && { mail, delivery, body: await fleet.blobs.read(mail.body) }
    }),
  )
  return found.filter(each => each !== undefined).toSorted((one, other) => one.mail.order - other.mail.order)
}

const inJson = ({ mail, body }: Letter): string => `${JSON.stringify({ ...shown(mail), body })}\n`

const shown = ({ id, thread, reply_to, from, subject, needs, priority, deadline, created_at }: Mail) => ({
  ...{ id, thread, reply_to, from: from.handle, role: from.role, subject, needs, priority, deadline, created_at },
})

/** Tells queued mail to a session at work, as messages that its client takes during or after the turn. */
export async function handToLive(fleet: Fleet, live: Session, queued: readonly Stored<Delivery>[]): Promise<void> {
  await retryOnConflict(async () => {
    const session = await current(fleet, 'sessions', live.id)
    if (session.value.status !== 'running') return
    const when = { actor: 'fleet', now: fleet.now() }
    const changes: Change[] = []
    const handed: Stored<Delivery>[] = []
    let listener = session
    for (const { value: listed } of queued.slice(0, MOST_AT_ONCE)) {
      const { value, version } = await current(fleet, 'deliveries', listed.id)
      if (value.state !== 'queued' || value.held !== null) continue
      const [letter] = await lettersOf(fleet, [{ value, version }])
      if (!letter) continue
      const text = await fleet.blobs.keep(`You have mail.\n\n${lettersInWords([letter])}`)
      const next = rules.handed(value, { session_id: session.value.id, via: 'message' }, when.now)
      const told = messageTo(
        listener,
        rules.messageOf(next),
        text,
        { ...when, actor: `member:${value.from}` },
        value.id,
      )
      listener = { ...listener, value: told.session }
      changes.push(told.message, put('deliveries', next, version))
      handed.push({ value: next, version })
    }
    if (!handed.length) return
    changes.push(put('sessions', listener.value, session.version))
    const events = [aboutHanded(session.value, handed), toldEvent(session.value, when)]
    await fleet.commit('commit.mail-handed', { changes, events })
  })
}

/** The sessions reactor attends to a mission with such an event. */
const toldEvent = (
  { id: session_id, mission_id, project_id }: Session,
  { actor, now }: { actor: string; now: string },
) => ({
  ...{ kind: 'message' as const, time: now, actor, project_id, mission_id, session_id },
})

/** Whether the model has said or done anything. A client that fails at once has not asked it. */
const spoke = ({ lastText, openTools, result, usage }: Digest): boolean =>
  lastText !== '' || openTools > 0 || result?.ok === true || usage.turns > 0

/** Notes once that the model answered a prompt with mail in it. */
export class PromptMail {
  readonly #fleet: Fleet
  readonly #session: Session
  #isNoted: boolean

  constructor(fleet: Fleet, session: Session) {
    this.#fleet = fleet
    this.#session = session
    this.#isNoted = session.member_id === null
  }

  async read(digest: Digest): Promise<void> {
    if (this.#isNoted || !spoke(digest)) return
    this.#isNoted = true
    await retryOnConflict(async () => {
      const handed = (await handedTo(this.#fleet, this.#session.id)).filter(
        ({ value }) => value.state === 'handed' && value.via === 'prompt',
      )
      if (!handed.length) return
      const now = this.#fleet.now()
      const { team_id, project_id, member_id } = handed[0]!.value
      const mails = handed.map(({ value }) => value.mail_id)
      await this.#fleet.commit('commit.mail-heard', {
        changes: handed.map(({ value, version }) => put('deliveries', rules.heard(value, 'turn', now), version)),
        events: [
          aboutTeam({ id: team_id, project_id }, 'mail_heard', { actor: 'fleet', now }, { member: member_id, mails }),
        ],
      })
    })
  }
}
