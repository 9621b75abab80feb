import { Button } from '@radix-ui/themes'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { ask, type Input, type Output } from '../../api/client.ts'
import { download } from '../../kit/download.ts'
import { complain, tell } from '../../kit/toasts.tsx'

type Filter = Pick<Input<'list_events'>, 'project_id' | 'mission_id' | 'kinds' | 'actor'>
type Event = Output<'list_events'>['events'][number]

const PAGE = 500
/** More than this is too much for a browser. `fleet call list_events` has no limit. */
const MOST = 20_000

/** Everything that fits the filter, as a file with one event per line, the newest last. */
export function Export({ filter }: { filter: Filter }) {
  const [busy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    try {
      const { events, isCut } = await readAll(filter)
      download('activity.jsonl', 'application/jsonl', events.map(event => `${JSON.stringify(event)}\n`).join(''))
      if (isCut) tell({ text: `Exported the newest ${events.length} events. Older ones are left out.` })
    } catch (error) {
      complain(error)
    }
    setBusy(false)
  }
  return (
    <Button variant="soft" color="gray" highContrast loading={busy} onClick={run}>
      <Download size={14} /> Export
    </Button>
  )
}

async function readAll(filter: Filter): Promise<{ events: Event[]; isCut: boolean }> {
  const pages: Event[][] = []
  let before: string | undefined
  for (let count = 0; count < MOST; ) {
    const page = await ask('list_events', { ...filter, limit: PAGE, before })
    pages.unshift(page.events)
    if (!page.more || page.start === undefined) return { events: pages.flat(), isCut: false }
    before = page.start
    count += page.events.length
  }
  return { events: pages.flat(), isCut: true }
}
