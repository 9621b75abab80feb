import { useEffect, useRef } from 'react'

export interface Shortcut {
  /**
   * `g m` is one key after the other; `mod` is Command on a Mac and Control elsewhere. Without keys it is only in the
   * palette.
   */
  keys?: string
  title: string
  /** Where the sheet of keys lists it; absent: under the current page. */
  group?: 'Everywhere' | 'Go to'
  run(): void
}

/** The name of `mod` on this keyboard. */
export const MOD = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl '

const SEQUENCE_MS = 1200
const registered = new Set<{ readonly current: readonly Shortcut[] }>()

/** Keys that work while a view is shown. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  useEffect(() => {
    registered.add(latest)
    return () => void registered.delete(latest)
  }, [])
}

/** All shortcuts that work now. Of two with the same keys the later one wins, which is the inner view's. */
export const shortcutsNow = (): Shortcut[] => [...registered].flatMap(({ current }) => current)

/** Nobody types into a checkbox. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !target.matches('[type="checkbox"], [type="radio"]')))

/** A button or link handles Enter itself. */
const isPressing = (target: EventTarget | null, name: string): boolean =>
  name.endsWith('Enter') &&
  target instanceof Element &&
  target.closest('a, button, summary, [role="menuitem"]') !== null

const isDialogOpen = (): boolean => document.querySelector('[role="dialog"][data-state="open"]') !== null

let before = ''
let beforeAt = 0

function nameOf(event: KeyboardEvent): string {
  const mod = event.metaKey || event.ctrlKey ? 'mod+' : ''
  // Characters such as ? need Shift on many keyboards, so Shift is not part of the name.
  const shift = event.shiftKey && /^[a-z]+$/i.test(event.key) ? 'shift+' : ''
  return mod + shift + (event.key.length === 1 ? event.key.toLowerCase() : event.key)
}

export function listenForShortcuts(): () => void {
  const pressed = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return
    const name = nameOf(event)
    if (isTyping(event.target) && !name.startsWith('mod+')) {
      // The keys of the page work again.
      if (name === 'Escape' && !isDialogOpen()) (event.target as HTMLElement).blur()
      return
    }
    if (isPressing(event.target, name)) return
    // An open dialog gets all keys.
    if (!name.startsWith('mod+') && isDialogOpen()) return
    const sequence = event.timeStamp - beforeAt < SEQUENCE_MS ? `${before} ${name}` : name
    const all = shortcutsNow()
    const found = all.findLast(each => each.keys === sequence) ?? all.findLast(each => each.keys === name)
    before = found ? '' : name
    beforeAt = event.timeStamp
    if (!found) return
    event.preventDefault()
    found.run()
  }
  addEventListener('keydown', pressed)
  return () => removeEventListener('keydown', pressed)
}
