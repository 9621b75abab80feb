import { Button } from '@radix-ui/themes'
import { useEffect } from 'react'
import { Link } from 'wouter'
import type { Output } from '../api/client.ts'
import { May } from '../kit/may.tsx'
import { plain } from '../kit/plain.ts'
import { useRemembered } from '../kit/remembered.ts'
import { Time } from '../kit/time.tsx'
import { plural, shortId } from '../kit/words.ts'
import { useAsk, useCommand } from '../live/data.ts'

type Fault = Output<'list_faults'>['faults'][number]

/** How long a try may take. */
const AFTER_A_TRY_MS = 1000
const SHORTEST_WAIT_MS = 2000

/** Shows what is stuck although no person has to decide, and why. */
export function FaultsBar({ count }: { count: number }) {
  const [hidden, setHidden] = useRemembered('faults-hidden')
  const { data, refetch } = useAsk('list_faults', {})
  const { run, busy } = useCommand('retry_faults')
  const faults = data?.faults ?? []
  const nextTry = faults.map(({ next_try_at }) => Date.parse(next_try_at)).sort((one, other) => one - other)[0]
  useEffect(() => {
    if (nextTry === undefined) return
    // There is no event for a try that fails like the ones before.
    const wait = Math.max(SHORTEST_WAIT_MS, nextTry - Date.now() + AFTER_A_TRY_MS)
    const timer = setTimeout(refetch, wait)
    return () => clearTimeout(timer)
  }, [nextTry, refetch])
  return (
    <section className="connection" aria-label="Faults">
      <span role="status">{plural(count, 'problem')} that the fleet retries by itself.</span>{' '}
      <May use="retry_faults">
        <Button size="1" variant="soft" color="amber" highContrast loading={busy} onClick={() => run({})}>
          Retry now
        </Button>
      </May>{' '}
      <Button
        size="1"
        variant="ghost"
        color="amber"
        highContrast
        className="faults-toggle"
        aria-expanded={!hidden}
        onClick={() => setHidden(hidden ? null : 'yes')}
      >
        {hidden ? 'Show details' : 'Hide details'}
      </Button>
      {!hidden && faults.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long list scrolls, also with the keyboard
        <ul className="faults" tabIndex={0} aria-label="What is stuck">
          {faults.map(fault => (
            <Line key={fault.id} fault={fault} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Line({ fault: { reactor, record, reason, since, tries, next_try_at } }: { fault: Fault }) {
  return (
    <li>
      <strong>{reactor.replaceAll('_', ' ')}</strong>
      {record && (
        <>
          , <Stuck record={record} />
        </>
      )}
      : {plain(reason)}{' '}
      <span className="faults-when">
        First failed <Time at={since} />, tried {tries === 1 ? 'once' : `${tries} times`}, next try{' '}
        <Time at={next_try_at} />
      </span>
    </li>
  )
}

const PAGES: Record<string, (id: string) => string> = {
  missions: id => `/missions/${id}`,
  sessions: id => `/sessions/${id}`,
  projects: id => `/projects/${id}`,
  workflows: id => `/workflows/${id}`,
  plans: id => `/plans/${id}`,
  schedules: () => '/schedules',
  loops: () => '/loops',
  questions: () => '/inbox',
}

function Stuck({ record }: { record: string }) {
  const [collection = '', id = ''] = record.split('/')
  const name = `${collection.replaceAll('_', ' ').replace(/s$/, '')} ${shortId(id)}`
  const page = PAGES[collection]
  return page ? <Link href={page(id)}>{name}</Link> : <span title={record}>{name}</span>
}
