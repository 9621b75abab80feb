import { neededBy } from '../../../src/domain/rules/needs.ts'
import type { FleetEvent } from '../live/fleet-events.ts'

/** Something that a person should know who is not looking at the page. */
export interface News {
  /** There is one notification per tag, the newest. */
  tag: string
  title: string
  body: string
  path: string
}

/** More than this at once, such as after a night without connection, become one notification. */
const MOST_AT_ONCE = 3

/** The events that need a person, one per mission or plan. */
export function newsIn(events: readonly FleetEvent[], titleOf: (missionId: string) => string | undefined): News[] {
  const things = new Map<string, News>()
  for (const event of events) {
    const needed = neededBy(event)
    const tag = needed?.plan_id ?? event.mission_id
    if (!needed || !tag) continue
    const title = (event.mission_id && titleOf(event.mission_id)) ?? ''
    const body = [title, event.cause].filter(Boolean).join('\n')
    things.set(tag, { tag, title: needed.words, body, path: needed.path })
  }
  const news = [...things.values()]
  if (news.length <= MOST_AT_ONCE) return news
  const titles = news.map(({ title }) => title)
  const body = [...new Set(titles)].map(title => `${title}: ${titles.filter(each => each === title).length}`).join('\n')
  return [{ tag: 'many', title: `${news.length} missions need you`, body, path: '/inbox' }]
}
