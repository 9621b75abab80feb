import type { Session } from '../../domain/records/session.ts'
import type { Delivery, Mail, Member } from '../../domain/records/team.ts'
import * as rules from '../../domain/rules/mail.ts'
import { endsWithNotice, noticeOf } from '../../domain/rules/mail-notice.ts'
import { type Screen, shows } from '../../domain/rules/screen.ts'
import type { Stored } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { current, put } from '../records.ts'
import { aboutDelivery, limitsOf } from '../teams/mail.ts'
import { handedTo } from '../teams/settling.ts'
import { aboutTeam } from '../teams/teams.ts'
import { conversationOf } from './opening.ts'
import { type Opened, tmuxOf } from './panes.ts'
import { noteTerminal } from './states.ts'
import { sendTyped, typeLine } from './typing.ts'

const PAGE = 50
const LOOKED_BACK = 2000
const STARTS_MS = 2000

export async function queuedFor(fleet: Fleet, { id }: Member): Promise<Stored<Delivery>[]> {
  return (await fleet.store.find('deliveries', { index: 'queued', equals: [id], limit: PAGE })).items
}

/** Types the oldest message into an idle terminal. What cannot be typed goes back into the queue, with the reason. */
export async function tellMail(fleet: Fleet, opened: Opened): Promise<void> {
  const { member, session, pane, agent } = opened
  const queued = (await queuedFor(fleet, member)).filter(({ value }) => value.held === null)
  const [first] = queued
  const team = (await current(fleet, 'teams', member.team_id)).value
  const waiting = queued.map(({ value }) => value)
  const waking = rules.wakingOf({ member, team, queued: waiting }, limitsOf(fleet), fleet.now())
  const text = waking.wake ? null : (waking.held?.text ?? null)
  if (!first || !waking.wake) return noteTerminal(fleet, member.id, session.id, { text })
  const mail = (await current(fleet, 'mail', first.value.mail_id)).value
  const body = await fleet.blobs.read(mail.body)
  const line = noticeOf({ mail, body, more: queued.length - 1, tools: hasTools(agent) })
  const handed = await hand(fleet, opened, first.value.id, mail)
  if (!handed) return
  const instructed = await firstWords(opened, fleet)
  const problem = await typeLine({ tmux: tmuxOf(fleet), pane, judge: agent.inTerminal!.judge }, instructed + line)
  if (!problem) await heard(fleet, session, handed.id)
  // What stands in its input is sent once the question before it is answered.
  else if (!problem.isTyped) await takeBack(fleet, session, handed.id)
  // A screen that changed is looked at again, and says itself why it is not typed into.
  await noteTerminal(fleet, member.id, session.id, { text: problem?.why ?? null })
}

/** How much longer a client that was told nothing yet has to be idle: it may still come up with a first question. */
export async function startsIn(fleet: Fleet, { session, member: { id } }: Opened): Promise<number> {
  if (!(await wasToldNothing(fleet, session))) return 0
  const { terminal } = (await current(fleet, 'members', id)).value
  return Date.parse(terminal!.since) + STARTS_MS - Date.parse(fleet.now())
}

async function wasToldNothing(fleet: Fleet, session: Session): Promise<boolean> {
  if (session.messages.length) return false
  return (await handedTo(fleet, session.id)).every(({ value }) => value.state === 'handed')
}

const hasTools = ({ can }: Opened['agent']): boolean => can.mcp !== 'no'

/** What a client that takes no instructions at its start is told before its first message. */
async function firstWords({ session, agent }: Opened, fleet: Fleet): Promise<string> {
  const file = agent.inTerminal!.instructions
  if (!file || !(await wasToldNothing(fleet, session))) return ''
  return `Read your instructions in ${fleet.home.session(session.id)}/agent-1/${file} first. `
}

async function hand(fleet: Fleet, { member, session }: Opened, id: string, mail: Mail): Promise<Delivery | undefined> {
  return retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'deliveries', id)
    if (value.state !== 'queued' || value.held !== null) return undefined
    const now = fleet.now()
    const next = rules.handed(value, { session_id: session.id, via: 'message' }, now)
    const { value: reader, version: known } = await current(fleet, 'members', member.id)
    const wakes = [...rules.wakesSince(reader, now), now]
    const told = { member: member.id, mails: [mail.id], session: session.id }
    await fleet.commit('commit.mail-handed', {
      changes: [put('deliveries', next, version), put('members', { ...reader, wakes }, known)],
      events: [aboutTeam({ id: member.team_id, project_id: member.project_id }, 'mail_handed', by(now), told)],
    })
    return next
  })
}

const by = (now: string) => ({ actor: 'fleet', now })

/** The client shows it among what was said to it. From now on its conversation can be continued. */
async function heard(fleet: Fleet, { id: sessionId, agent }: Session, id: string): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'deliveries', id)
    if (value.state !== 'handed') return
    const next = rules.heard(value, 'echo', fleet.now())
    const session = await current(fleet, 'sessions', sessionId)
    const isNamed = fleet.agents.ofSession(agent).inTerminal?.namesConversation === true
    const conversation = session.value.resumes ?? conversationOf(session.value)
    const named =
      isNamed && session.value.conversation === null && session.value.status !== 'ended'
        ? [put('sessions', { ...session.value, conversation }, session.version)]
        : []
    await fleet.commit('commit.mail-heard', {
      changes: [put('deliveries', next, version), ...named],
      events: [aboutDelivery(next, 'mail_heard', by(fleet.now()))],
    })
  })
}

async function takeBack(fleet: Fleet, { id: sessionId }: Session, id: string): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'deliveries', id)
    if (value.state !== 'handed' || value.session_id !== sessionId) return
    const next = rules.afterSession(value, { completed: false, remembered: false }, fleet.now())
    await fleet.commit('commit.mail-settled', {
      changes: [put('deliveries', next, version)],
      events: [aboutDelivery(next, 'mail_returned', by(fleet.now()))],
    })
  })
}

/**
 * Mail that was typed and perhaps not sent, also by an earlier server: the terminal shows how far it came. `input`: what
 * stands at its end may be in the input.
 */
export async function settleHanded(
  fleet: Fleet,
  { session, pane, agent }: Opened,
  input: Screen | null,
): Promise<void> {
  const handed = await begun(fleet, session)
  if (!handed.length) return
  const lines = (await tmuxOf(fleet).lines(pane, LOOKED_BACK)) ?? []
  for (const { value } of handed) {
    if (input && (await standsInInput(fleet, agent, value, input))) continue
    if (shows({ lines }, `message ${value.mail_id} from`)) await heard(fleet, session, value.id)
    else await takeBack(fleet, session, value.id)
  }
}

/**
 * Sends what was typed and not sent, also by an earlier server, if nobody typed anything after it. False: there is no
 * such. Enter is pressed once: a client that does not take it at once may be coming up with a question.
 */
export async function sendBegun(fleet: Fleet, { session, pane, agent }: Opened, screen: Screen): Promise<boolean> {
  for (const { value } of await begun(fleet, session)) {
    if (!(await standsInInput(fleet, agent, value, screen))) continue
    const problem = await sendTyped({ tmux: tmuxOf(fleet), pane, judge: agent.inTerminal!.judge }, screen)
    await (problem === undefined ? heard : takeBack)(fleet, session, value.id)
    return problem === undefined
  }
  return false
}

async function standsInInput(fleet: Fleet, agent: Opened['agent'], { mail_id }: Delivery, screen: Screen) {
  const mail = (await current(fleet, 'mail', mail_id)).value
  return endsWithNotice(screen, { mail, body: await fleet.blobs.read(mail.body), tools: hasTools(agent) })
}

export const hasBegun = async (fleet: Fleet, session: Session): Promise<boolean> =>
  (await begun(fleet, session)).length > 0

const begun = async (fleet: Fleet, { id }: Session): Promise<Stored<Delivery>[]> =>
  (await handedTo(fleet, id)).filter(({ value }) => value.state === 'handed' && value.via === 'message')
