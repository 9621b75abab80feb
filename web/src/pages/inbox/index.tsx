import { Badge, Flex, Kbd, Text } from '@radix-ui/themes'
import { Inbox } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { Empty, Lines, Page, Problem } from '../../kit/page.tsx'
import { type Entry, type EntryKind, placeOf, useWaiting } from '../../kit/waiting.ts'
import { type Act, useActs } from '../../kit/waiting-acts.ts'
import { WaitingCard, Words } from '../../kit/waiting-card.tsx'
import { plural } from '../../kit/words.ts'
import { useShortcuts } from '../../shell/keys.ts'
import './inbox.css'

const KINDS: Record<EntryKind, string> = {
  question: 'Questions',
  conflict: 'Conflicts',
  stuck: 'Cannot go on',
  plan: 'Plans',
  review: 'Reviews',
  failure: 'Failures',
}

/** Everything that waits for a person, in one list, each with what it takes to decide. */
export default function InboxPage() {
  const { entries, count: waiting, titles, inbox, isPending } = useWaiting()
  const [search, setSearch] = useSearchParams()
  const kind = search.get('kind')
  const shown = kind ? entries.filter(entry => entry.kind === kind) : entries
  const keys = useKeys(shown)
  return (
    <Page
      title="Inbox"
      about={isPending ? 'Looking…' : plural(waiting, 'thing waits for you', 'things wait for you')}
      actions={<KeyHint />}
    >
      <Flex gap="2" mb="4" role="group" aria-label="Only one kind" className="kinds">
        {(Object.keys(KINDS) as EntryKind[]).map(each => {
          const count = entries.filter(entry => entry.kind === each).length
          return (
            <button
              type="button"
              key={each}
              className="kind"
              aria-pressed={kind === each}
              onClick={() => setSearch(kind === each ? {} : { kind: each }, { replace: true })}
            >
              {KINDS[each]}
              <Badge color={count ? 'amber' : 'gray'} highContrast radius="full">
                {count}
              </Badge>
            </button>
          )
        })}
      </Flex>
      {inbox.error && <Problem error={inbox.error} retry={() => inbox.refetch()} />}
      {isPending && !inbox.error && <Lines rows={4} height={120} />}
      {!isPending && shown.length === 0 && (
        <Empty icon={Inbox} title={kind && entries.length ? 'None of this kind' : 'Nothing waits for you'}>
          Questions of agents, tools to allow, plans to approve, work to review, conflicts and failures come here the
          moment they arise.
        </Empty>
      )}
      <ul className="inbox">
        {shown.map(entry => (
          <li key={entry.id} data-entry={entry.id} data-active={keys.active === entry.id || undefined} tabIndex={-1}>
            <WaitingCard entry={entry} titles={titles} />
          </li>
        ))}
      </ul>
      {keys.asking && (
        <Words
          act={keys.asking}
          busy={false}
          close={keys.close}
          run={(act, words) => act.run(words).then(keys.close)}
        />
      )}
    </Page>
  )
}

/** j and k go through the list, a and d decide, Enter opens. */
function useKeys(entries: readonly Entry[]) {
  const [, go] = useLocation()
  const actsOf = useActs()
  const [active, setActive] = useState<string>()
  const [asking, setAsking] = useState<Act>()
  const at = entries.findIndex(({ id }) => id === active)
  // When what was decided about leaves, the next one takes its place.
  const place = useRef(0)
  useEffect(() => {
    if (at >= 0) place.current = at
    else if (active !== undefined) setActive(entries[Math.min(place.current, entries.length - 1)]?.id)
  }, [at, active, entries])
  const move = (by: number) => {
    const next = entries[Math.max(0, Math.min(entries.length - 1, at < 0 ? 0 : at + by))]
    if (!next) return
    setActive(next.id)
    const element = document.querySelector<HTMLElement>(`[data-entry="${CSS.escape(next.id)}"]`)
    element?.focus({ preventScroll: true })
    element?.scrollIntoView({ block: 'nearest' })
  }
  const decide = (key: 'a' | 'd') => {
    const act = entries[at] && actsOf(entries[at]).find(each => each.key === key)
    if (act?.words) setAsking(act)
    else if (act) act.run()
    else focusIn(key)
  }
  useShortcuts([
    { keys: 'j', title: 'Next in the inbox', run: () => move(1) },
    { keys: 'k', title: 'The one before in the inbox', run: () => move(-1) },
    { keys: 'a', title: 'Approve, land or retry; go to Allow', run: () => decide('a') },
    { keys: 'd', title: 'Reject; go to Deny', run: () => decide('d') },
    { keys: 'Enter', title: 'Open what is chosen', run: () => entries[at] && go(placeOf(entries[at])) },
  ])
  return { active, asking, close: () => setAsking(undefined) }
}

/** A permission is not decided by one key: its button gets the focus. A question that wants words gets the cursor. */
function focusIn(key: 'a' | 'd'): void {
  const within = (what: string) => document.querySelector<HTMLElement>(`.inbox [data-active] ${what}`)
  const button = within(`button[data-key="${key}"]`)
  if (button) button.focus()
  else if (key === 'a') within('textarea')?.focus()
}

const KeyHint = () => (
  <Text size="1" color="gray" className="key-hint">
    <Kbd>j</Kbd> <Kbd>k</Kbd> move · <Kbd>a</Kbd> approve · <Kbd>d</Kbd> deny · <Kbd>↵</Kbd> open
  </Text>
)
