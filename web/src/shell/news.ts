import type { FleetEvent } from '../live/fleet-events.ts'

/** Something that a person should know who is not looking at the page. */
export interface News {
  /** There is one notification per tag, the newest. */
  tag: string
  title: string
  body: string
  path: string
}

const WORDS: Partial<Record<FleetEvent['kind'], string>> = {
  asked: 'An agent asks you',
  needs_input: 'A mission needs you',
  limit_reached: 'A mission needs you',
  landing_waits: 'A landing waits for you',
  pull_request_opened: 'A pull request was opened',
  conflict: 'A conflict needs you',
  review_wanted: 'Work to review',
  failed: 'A mission failed',
  plan_proposed: 'A plan to approve',
}
/** More than this at once, such as after a night without connection, become one notification. */
const MOST_AT_ONCE = 3

/** The events that need a person, one per mission or plan. */
export function newsIn(events: readonly FleetEvent[], titleOf: (missionId: string) => string | undefined): News[] {
  const things = new Map<string, News>()
  for (const event of events) {
    const word = WORDS[event.kind]
    if (!word || !needsSomebody(event)) continue
    const plan = event.kind === 'plan_proposed' ? planOf(event) : undefined
    const tag = plan ?? event.mission_id
    if (!tag) continue
    const title = (event.mission_id && titleOf(event.mission_id)) ?? ''
    const body = [title, event.cause].filter(Boolean).join('\n')
    things.set(tag, { tag, title: word, body, path: plan ? `/plans/${plan}` : pathOf(event) })
  }
  const news = [...things.values()]
  if (news.length <= MOST_AT_ONCE) return news
  const titles = news.map(({ title }) => title)
  const body = [...new Set(titles)].map(title => `${title}: ${titles.filter(each => each === title).length}`).join('\n')
  return [{ tag: 'many', title: `${news.length} things need you`, body, path: '/inbox' }]
}

const WAITING: readonly unknown[] = ['needs_input', 'review', 'failed']
/** A conflict, for example, is first resolved by the agent. The mission waits only if that fails. */
const needsSomebody = ({ kind, data }: FleetEvent): boolean =>
  kind === 'asked' || kind === 'plan_proposed' || WAITING.includes(data.status)
const planOf = ({ data }: FleetEvent): string | undefined => (typeof data.plan === 'string' ? data.plan : undefined)
const pathOf = ({ kind, mission_id }: FleetEvent): string =>
  kind === 'review_wanted' || kind === 'conflict' ? `/review/${mission_id}` : `/missions/${mission_id}`
