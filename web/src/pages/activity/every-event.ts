import { ask, type Input, type Output } from '../../api/client.ts'

type Filter = Pick<Input<'list_events'>, 'project_id' | 'mission_id' | 'kinds' | 'actor'>
type Event = Output<'list_events'>['events'][number]

const PAGE = 500
/** More than this is too much for a browser. `fleet call list_events` has no limit. */
const MOST = 20_000

/** Everything that fits the filter, the newest last. */
export async function everyEvent(filter: Filter): Promise<{ lines: Event[]; isCut: boolean }> {
  const pages: Event[][] = []
  let before: string | undefined
  for (let count = 0; count < MOST; ) {
    const page = await ask('list_events', { ...filter, limit: PAGE, before })
    pages.unshift(page.events)
    if (!page.more || page.start === undefined) return { lines: pages.flat(), isCut: false }
    before = page.start
    count += page.events.length
  }
  return { lines: pages.flat(), isCut: true }
}
