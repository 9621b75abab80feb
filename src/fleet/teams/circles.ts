import type { Delivery, Mail, Member, Team } from '../../domain/records/team.ts'
import { saying } from '../../domain/rules/mail-prompt.ts'
import { circlesOf, membersIn, toldOfCircle, type Wait } from '../../domain/rules/wait-circles.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, current, derivedId } from '../records.ts'
import { mailing } from './mail.ts'
import { liveOf } from './sessions.ts'
import { membersOf } from './teams.ts'

export interface Circle {
  members: Member[]
  waits: { member: Member; for: Member; mail: Mail }[]
}

/** Agents of a team who wait for each other's answers, while none of them is at work or about to be. */
export async function circlesIn(fleet: Fleet, team: Pick<Team, 'roster'>): Promise<Circle[]> {
  const present = new Map((await membersOf(fleet, team)).map(member => [member.id, member]))
  const owed = new Map<string, Delivery[]>()
  for (const member of present.values()) {
    const asked = await askedOf(fleet, member)
    if (asked.length && (await isStill(fleet, member))) owed.set(member.id, asked)
  }
  const waits = [...owed].flatMap(([id, asked]) =>
    asked.filter(({ from }) => owed.has(from)).map(({ from, mail_id }): Wait => ({ waits: from, for: id, mail_id })),
  )
  return Promise.all(circlesOf(waits).map(circle => asCircle(fleet, circle, present)))
}

async function asCircle(fleet: Fleet, circle: readonly Wait[], present: ReadonlyMap<string, Member>): Promise<Circle> {
  const waits = circle.map(async ({ waits: who, for: whom, mail_id }) => ({
    ...{ member: present.get(who)!, for: present.get(whom)! },
    mail: (await current(fleet, 'mail', mail_id)).value,
  }))
  return { members: membersIn(circle).map(id => present.get(id)!), waits: await Promise.all(waits) }
}

/** Messages that an agent knows, and that want an answer of it. */
async function askedOf(fleet: Fleet, { id, person }: Member): Promise<Delivery[]> {
  if (person !== null) return []
  const open = await Array.fromAsync(all(fleet, 'deliveries', 'open', [id]))
  return open
    .map(({ value }) => value)
    .filter(({ state, needs }) => state === 'heard' && (needs === 'reply' || needs === 'decision'))
}

/** Neither at work nor about to be. */
async function isStill(fleet: Fleet, member: Member): Promise<boolean> {
  if (await liveOf(fleet, member)) return false
  return !(await fleet.store.find('deliveries', { index: 'queued', equals: [member.id], limit: 1 })).items.length
}

/** Who waits for whom, in words of the fleet. */
export const waitInWords = ({ member, for: whom, mail }: Circle['waits'][number]): string =>
  `${member.handle} waits for an answer of ${whom.handle} to message ${mail.id}${mail.subject ? ` (${saying(mail.subject)})` : ''}.`

/** Whoever leads the team learns once of a circle that a member is in. */
export async function tellOfCircle(fleet: Fleet, member: Member): Promise<void> {
  if (!(await askedOf(fleet, member)).length) return
  await retryOnConflict(async () => {
    const { value: team } = await current(fleet, 'teams', member.team_id)
    const circle = (await circlesIn(fleet, team)).find(({ members }) => members.some(({ id }) => id === member.id))
    if (!circle) return
    const mails = circle.waits.map(({ mail }) => mail.id).toSorted()
    const id = derivedId('mail', team.id, 'circle', ...mails)
    if (await fleet.store.get('mail', id)) return
    const waits = circle.waits.map(each => ({ waits: each.member.id, for: each.for.id, mail_id: each.mail.id }))
    const to = toldOfCircle(waits, await membersOf(fleet, team)).map(({ handle }) => handle)
    if (!to.length) return
    const lines = circle.waits.map(each => `- ${waitInWords(each)}`).join('\n')
    const body = await fleet.blobs.keep(
      `These members wait for each other, and none of them is at work:\n${lines}\nWrite to one of them, so that it goes on.`,
    )
    const letter = { to, body, subject: 'Waiting in a circle', priority: 'high', needs: 'none' } as const
    const when = { actor: 'fleet', now: fleet.now() }
    const { batch } = await mailing(
      fleet,
      team.id,
      'fleet',
      { ...letter, deadline: null, reply_to: null, wake: true, id },
      when,
    )
    await fleet.commit('commit.mail-due', batch)
  })
}
