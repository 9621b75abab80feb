import { Button, Flex, IconButton, Text } from '@radix-ui/themes'
import { X } from 'lucide-react'
import { Toast } from 'radix-ui'
import { useSyncExternalStore } from 'react'
import { Refused, Unreachable } from '../api/client.ts'
import { plain } from './plain.ts'
import './toasts.css'

export interface Message {
  text: string
  /** What to do about it. */
  advice?: string
  tone?: 'plain' | 'bad'
  action?: { label: string; run(): void }
  /** Called when it closes without its action. */
  passed?(): void
}

interface Shown extends Message {
  id: number
}

const SHOWN_MS = 6000
const BAD_SHOWN_MS = 12_000
const LONGEST_MS = 20_000
const MOST_SHOWN = 4
let shown: readonly Shown[] = []
let count = 0
const watchers = new Set<() => void>()

function set(next: readonly Shown[]): void {
  shown = next
  for (const watcher of watchers) watcher()
}

/** Shows a message for a moment. */
export const tell = (message: Message): void => void show(message)

/** Returns a function that closes it early. */
function show(message: Message): () => void {
  const told = { ...message, id: ++count }
  const crowdedOut = shown.slice(0, -(MOST_SHOWN - 1))
  set([...shown, told])
  for (const each of crowdedOut) close(each, false)
  return () => close(told, false)
}

/** The server's advice is for a terminal. A page shows the new work itself. */
const CHANGED: Message = {
  text: 'The work has changed since you opened it.',
  advice: 'Review it again, then land it.',
  tone: 'bad',
}

/** Says what went wrong and what to do, in the server's words if it has some. */
export const complain = (error: unknown): void => tell(complaintOf(error))

function complaintOf(error: unknown): Message {
  if (error instanceof Refused && error.code === 'not_shown') return CHANGED
  const text = error instanceof Error ? error.message : String(error)
  const isKnown = error instanceof Refused || error instanceof Unreachable
  return { text, advice: isKnown ? error.advice : undefined, tone: 'bad' }
}

const pending = new Set<() => void>()
// Leaving the page is not an undo. `beforeunload` comes first, because a busy browser may close a page before
// `pagehide`; a closed window does not always get `beforeunload`.
for (const leaving of ['beforeunload', 'pagehide'])
  addEventListener(leaving, () => {
    for (const act of pending) act()
  })

/** Does something irreversible once its message has closed. Until then it can be undone, and `back` is called. */
export function afterAMoment(text: string, act: () => void, back?: () => void): void {
  const once = () => {
    if (pending.delete(once)) act()
  }
  pending.add(once)
  const undo = () => {
    if (pending.delete(once)) back?.()
  }
  const pass = show({ text, action: { label: 'Undo', run: undo }, passed: once })
  // A message stays open while its window is in the background, but the action does not wait for that.
  setTimeout(pass, LONGEST_MS)
}

function close(message: Shown, taken: boolean): void {
  if (!shown.includes(message)) return
  set(shown.filter(each => each !== message))
  if (!taken) message.passed?.()
}

export function Toasts() {
  const messages = useSyncExternalStore(
    watcher => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => shown,
  )
  return (
    <Toast.Provider swipeDirection="right">
      {messages.map(message => (
        <Toast.Root
          key={message.id}
          className="toast"
          data-tone={message.tone ?? 'plain'}
          type={message.tone === 'bad' ? 'foreground' : 'background'}
          duration={message.tone === 'bad' ? BAD_SHOWN_MS : SHOWN_MS}
          onOpenChange={open => open || close(message, false)}
        >
          <Flex direction="column" flexGrow="1" minWidth="0">
            <Toast.Title asChild>
              <Text size="2" weight="medium" as="div">
                {plain(message.text)}
              </Text>
            </Toast.Title>
            {message.advice && (
              <Toast.Description asChild>
                <Text size="2" color="gray" as="div">
                  {plain(message.advice)}
                </Text>
              </Toast.Description>
            )}
          </Flex>
          {message.action && (
            <Toast.Action asChild altText={message.action.label}>
              <Button
                size="1"
                variant="soft"
                onClick={() => {
                  message.action?.run()
                  close(message, true)
                }}
              >
                {message.action.label}
              </Button>
            </Toast.Action>
          )}
          <Toast.Close asChild>
            <IconButton size="1" variant="ghost" color="gray" aria-label="Close">
              <X size={14} />
            </IconButton>
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className="toasts" />
    </Toast.Provider>
  )
}
