import type { Mission } from '../../domain/records/mission.ts'
import type { Plan } from '../../domain/records/plan.ts'
import type { Question } from '../../domain/records/talk.ts'
import type { Fleet } from '../fleet.ts'

/** Of each kind so many are looked at. */
export const MOST_LOOKED_AT = 1000

export interface Waiting {
  questions: Question[]
  plans: Plan[]
  /** To review, or unable to go on; one that has asked something is there as its question. */
  missions: Mission[]
  /** What failed lately, the newest first: news, which waits for nobody and is not counted. */
  failures: Mission[]
}

/** Failures of longer ago are no news. */
const NEWS_DAYS = 3

/** Everything that waits for a person: what the inbox lists, and what is counted wherever it is counted. */
export async function waitingForPerson(fleet: Fleet, limit = MOST_LOOKED_AT): Promise<Waiting> {
  const since = new Date(Date.parse(fleet.now()) - NEWS_DAYS * 86_400_000).toISOString()
  const [questions, plans, ended, ...missions] = await Promise.all([
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
    // A loop decides about its own.
    plans: plans.items.map(({ value }) => value).filter(({ loop_id }) => loop_id === null),
    missions: missions
      .flatMap(({ items }) => items.map(({ value }) => value))
      // A parked agent's question stays open while nobody asks it.
      .filter(mission => !mission.asking && !asking.has(mission.id)),
    failures: ended.items.map(({ value }) => value).filter(({ status }) => status === 'failed'),
  }
}

export const countOf = ({ questions, plans, missions }: Waiting): number =>
  questions.length + plans.length + missions.length
