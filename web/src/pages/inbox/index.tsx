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
  stuck: 'Blocked',
  mail: 'Mail',
  plan: 'Plans',
  review: 'Reviews',
  failure: 'Failures',
}

/** Everything that waits for a person in one list, with everything needed to decide. */
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
      about={isPending ? 'Loading…' : wordsFor(waiting, entries.length - waiting)}
      actions={
        <>
          <Button variant="ghost" disabled={isSorted} onClick={sort}>
            Re-sort
          </Button>
          <KeyHint />
        </>
      }
    >
      <Flex gap="2" mb="4" role="group" aria-label="Filter by kind" className="kinds">
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
        <Empty icon={Inbox} title={kind && steady.length ? 'No results' : 'Inbox zero'}>
          Questions, permission requests, mail, plans, reviews, conflicts and failures appear here as they happen.
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

/** Failures are listed too, but they wait for nobody, so they are counted apart. */
function wordsFor(waiting: number, failures: number): string {
  const needs = waiting ? `${plural(waiting, 'item needs', 'items need')} you` : 'Nothing needs you'
  return failures > 0 ? `${needs} · ${plural(failures, 'recent failure')}` : needs
}

/**
 * j and k move through the list, a and d decide, Enter opens. The selected entry stays selected, even if it is
 * resolved.
 */
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
    { keys: 'j', title: 'Next item', run: () => move(1) },
    { keys: 'k', title: 'Previous item', run: () => move(-1) },
    { keys: 'a', title: 'Approve, retry, acknowledge or open the review', run: () => decide('a') },
    { keys: 'd', title: 'Reject or deny', run: () => decide('d') },
    { keys: 'Enter', title: 'Open item', run: () => chosen && go(placeOf(chosen)) },
    { keys: 'u', title: 'Undo the last decision', run: takeLastBack },
  ])
  return { active, asking, close: () => setAsking(undefined) }
}

/**
 * A single key does not decide about a permission: its button gets the focus. A question that needs words gets the
 * cursor.
 */
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
