import { Badge, Button, Flex, Kbd, Text } from '@radix-ui/themes'
import { Inbox } from 'lucide-react'
import { useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { takeLastBack } from '../../kit/deciding.ts'
import { Empty, Lines, Page, Problem } from '../../kit/page.tsx'
import { type Steady, useSteady } from '../../kit/steady.ts'
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
  const { steady, sort } = useSteady(entries)
  const shown = kind ? steady.filter(entry => entry.kind === kind) : steady
  const keys = useKeys(shown)
  const isSorted = steady.length === entries.length && steady.every(({ id }, at) => id === entries[at]!.id)
  return (
    <Page
      title="Inbox"
      about={isPending ? 'Looking…' : plural(waiting, 'thing waits for you', 'things wait for you')}
      actions={
        <>
          <Button variant="ghost" disabled={isSorted} onClick={sort}>
            Sort anew
          </Button>
          <KeyHint />
        </>
      }
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
        <Empty icon={Inbox} title={kind && steady.length ? 'None of this kind' : 'Nothing waits for you'}>
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

/** j and k go through the list, a and d decide, Enter opens. What is chosen stays chosen, whatever becomes of it. */
function useKeys(entries: readonly Steady<Entry>[]) {
  const [, go] = useLocation()
  const actsOf = useActs()
  const [active, setActive] = useState<string>()
  const [asking, setAsking] = useState<Act>()
  const at = entries.findIndex(({ id }) => id === active)
  const chosen = entries[at]
  const move = (by: 1 | -1) => {
    const ahead = by === 1 ? entries.slice(at + 1) : entries.slice(0, Math.max(at, 0)).reverse()
    const next = ahead.find(({ gone }) => !gone)
    if (!next) return
    setActive(next.id)
    const element = document.querySelector<HTMLElement>(`[data-entry="${CSS.escape(next.id)}"]`)
    element?.focus({ preventScroll: true })
    element?.scrollIntoView({ block: 'nearest' })
  }
  const decide = (key: 'a' | 'd') => {
    if (!chosen || chosen.gone) return
    const act = actsOf(chosen).find(each => each.key === key)
    if (act?.words) setAsking(act)
    else if (act) act.run()
    else if (chosen.kind === 'review') go(placeOf(chosen))
    else focusIn(key)
  }
  useShortcuts([
    { keys: 'j', title: 'Next in the inbox', run: () => move(1) },
    { keys: 'k', title: 'The one before in the inbox', run: () => move(-1) },
    { keys: 'a', title: 'Approve or retry; look at work to review; go to Allow', run: () => decide('a') },
    { keys: 'd', title: 'Reject; go to Deny', run: () => decide('d') },
    { keys: 'Enter', title: 'Open what is chosen', run: () => chosen && go(placeOf(chosen)) },
    { keys: 'u', title: 'Take the last decision back', run: takeLastBack },
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
    <Kbd>j</Kbd> <Kbd>k</Kbd> move · <Kbd>a</Kbd> approve · <Kbd>d</Kbd> deny · <Kbd>u</Kbd> undo · <Kbd>↵</Kbd> open
  </Text>
)
