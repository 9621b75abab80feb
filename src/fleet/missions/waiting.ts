import type { Mission } from '../../domain/records/mission.ts'
import type { Plan } from '../../domain/records/plan.ts'
import type { Question } from '../../domain/records/talk.ts'
import type { Fleet } from '../fleet.ts'
import { mailWaitingFor, type WaitingMail } from '../teams/waiting.ts'

/** The most records that are read of each kind. */
export const MOST_LOOKED_AT = 1000

export interface Waiting {
  questions: Question[]
  plans: Plan[]
  /** Missions to review, or unable to go on. A mission that asked something appears as its question instead. */
  missions: Mission[]
  mail: WaitingMail[]
  /** Recent failures, newest first. They wait for nobody and are not counted. */
  failures: Mission[]
}

/** Older failures are no news. */
const NEWS_DAYS = 3

/** Everything that waits for this person: what their inbox lists and what every count counts. */
export async function waitingForPerson(fleet: Fleet, actor: string, limit = MOST_LOOKED_AT): Promise<Waiting> {
  const since = new Date(Date.parse(fleet.now()) - NEWS_DAYS * 86_400_000).toISOString()
  const [mail, questions, plans, ended, ...missions] = await Promise.all([
    mailWaitingFor(fleet, actor, limit),
    fleet.store.find('questions', { index: 'open', limit }),
    fleet.store.find('plans', { index: 'open', equals: ['proposed'], limit }),
    fleet.store.find('missions', { index: 'ended', from: since, newestFirst: true, limit }),
    ...['needs_input', 'review'].map(status =>
      fleet.store.find('missions', { index: 'status', equals: [status], limit }),
    ),
  ])
  const asking = new Set(questions.items.map(({ value }) => value.mission_id))
  return {
    questions: questions.items.map(({ value }) => value),
    // A loop decides about its own plans.
    plans: plans.items.map(({ value }) => value).filter(({ loop_id }) => loop_id === null),
    missions: missions
      .flatMap(({ items }) => items.map(({ value }) => value))
      // The question of a parked agent stays open without a session.
      .filter(mission => !mission.asking && !asking.has(mission.id)),
    mail,
    failures: ended.items.map(({ value }) => value).filter(({ status }) => status === 'failed'),
  }
}

export const countOf = ({ questions, plans, missions, mail }: Waiting): number =>
  questions.length + plans.length + missions.length + mail.length
