import type { Health, HealthAct } from '../../domain/records/health.ts'
import type { Member } from '../../domain/records/team.ts'
import { nextInWords } from '../../domain/rules/health.ts'
import type { By } from '../../domain/rules/life.ts'
import { toldAt } from '../../domain/rules/mail.ts'
import { saying } from '../../domain/rules/mail-prompt.ts'
import type { Batch } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { interruption } from '../questions/questions.ts'
import { derivedId, put } from '../records.ts'
import { mailing } from '../teams/mail.ts'
import { aboutTeam, membersOf } from '../teams/teams.ts'
import type { Known } from './facts.ts'

/** How long people have to say something else before an interrupted agent goes on. */
const GOES_ON_MS = 10_000

/** The changes of a step, for the commit that notes it: it is done exactly once, whenever a server dies. */
export async function batchOf(fleet: Fleet, known: Known, act: HealthAct, next: Health, when: By): Promise<Batch> {
  const { session, mission, member, facts } = known
  const why = facts.trouble!.text
  switch (act) {
    case 'nudge':
      // In a terminal it is typed, once the screen is idle.
      return member.value.placement === 'headless' ? told(fleet, known, next, when) : { changes: [] }
    case 'interrupt': {
      const text = await fleet.blobs.keep(`The fleet interrupted it. ${why} What should it do now?`)
      const until = new Date(Date.parse(when.now) + GOES_ON_MS).toISOString()
      const { changes, events } = interruption(mission!, session!.value, text, when, until)
      return { changes, events }
    }
    case 'restart': {
      const stopping = { outcome: 'stalled' as const, reason: `${why} It did not answer a message.` }
      return { changes: [put('sessions', { ...session!.value, stopping }, session!.version)] }
    }
    case 'lead':
    case 'people':
      return report(fleet, known, act, next, when)
  }
}

/** A short message to the member itself. It wakes nobody: it is for the session at work. */
async function told(fleet: Fleet, { member: { value }, team, facts }: Known, next: Health, when: By): Promise<Batch> {
  const body = await fleet.blobs.keep(
    `${facts.trouble!.text} Go on, or end your turn and say what keeps you from it. This is only asked once.`,
  )
  const letter = { to: [value.handle], subject: 'Are you there?', body, wake: false, id: mailId(value, next, 'nudge') }
  return (await mailing(fleet, team.id, 'fleet', { ...PLAIN, ...letter }, when)).batch
}

const PLAIN = { priority: 'high', needs: 'none', deadline: null, reply_to: null } as const
const mailId = ({ id }: Member, { since }: Health, act: HealthAct): string =>
  derivedId('mail', 'health', id, since ?? '', act)

/** Says what is wrong, what was done, and what whoever reads it can do. */
async function report(
  fleet: Fleet,
  { member: { value }, team, facts }: Known,
  act: 'lead' | 'people',
  next: Health,
  when: By,
): Promise<Batch> {
  const to = toldAt(act, value, await membersOf(fleet, team)).map(({ handle }) => handle)
  const before = next.done.filter(each => each.act !== act).map(({ text }) => text)
  const { handle } = value
  const body = await fleet.blobs.keep(
    [
      `${handle} is not well. ${saying(facts.trouble!.text)}`,
      `What was done: ${before.length ? before.join(' ') : 'it was started again as often as it may be.'}`,
      `What you can do: look at it with fleet team show ${team.name}, give its task to somebody else with fleet team task assign, resume it with fleet mission resume ${next.cause === 'failed' ? 'and the id above, ' : ''}or dismiss it with fleet team dismiss ${team.name} ${handle}.`,
      nextInWords(next, facts.possible) ?? '',
    ]
      .filter(Boolean)
      .join('\n'),
  )
  const letter = { to, subject: `${handle} is not well`, body, wake: true, id: mailId(value, next, act) }
  return (await mailing(fleet, team.id, 'fleet', { ...PLAIN, ...letter }, when)).batch
}

/** What became of its health, for pages and sockets. A restart names the session that it ends. */
export function healthEvent(
  { member: { value }, team, session }: Known,
  next: Health,
  act: HealthAct | null,
  when: By,
) {
  const { state, cause, reason } = next
  const told = { member: value.id, handle: value.handle, state, was: value.health.state, cause, reason, act }
  return {
    ...aboutTeam(team, 'member_health', when, told),
    ...(act === 'restart' && { session_id: session!.value.id }),
  }
}
