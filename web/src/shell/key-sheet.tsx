import { Dialog, Kbd } from '@radix-ui/themes'
import { useState } from 'react'
import { useFocusBack } from '../kit/focus-back.ts'
import './key-sheet.css'
import { MOD, type Shortcut, shortcutsNow } from './keys.ts'

const HERE = 'This page'
const GROUPS = [HERE, 'Everywhere', 'Go to'] as const
const NAMES: Record<string, string> = {
  mod: MOD.trim(),
  shift: '⇧',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
}

/** All keys that work now. */
export default function KeySheet({ close }: { close(): void }) {
  const focusBack = useFocusBack()
  const [groups] = useState(() => {
    const all = shortcutsNow().filter(({ keys }) => keys)
    // Of two with the same keys only the last works.
    const working = all.filter((each, index) => all.findLastIndex(({ keys }) => keys === each.keys) === index)
    return Map.groupBy(working, ({ group = HERE }) => group)
  })
  return (
    <Dialog.Root open onOpenChange={open => open || close()}>
      <Dialog.Content maxWidth="640px" onCloseAutoFocus={focusBack} aria-describedby={undefined}>
        <Dialog.Title size="4">Keyboard shortcuts</Dialog.Title>
        <div className="key-sheet">
          {GROUPS.filter(group => groups.has(group)).map(group => (
            <section key={group} aria-label={group}>
              <h2>{group}</h2>
              <dl>
                {groups.get(group)!.map(shortcut => (
                  <Line key={shortcut.keys} shortcut={shortcut} />
                ))}
              </dl>
            </section>
          ))}
        </div>
      </Dialog.Content>
    </Dialog.Root>
  )
}

const nameOf = (key: string): string =>
  key
    .split('+')
    .map(name => NAMES[name] ?? (name.length === 1 ? name.toUpperCase() : name))
    .join(' ')

function Line({ shortcut: { keys = '', title } }: { shortcut: Shortcut }) {
  const [first = '', second] = keys.split(' ')
  return (
    <div>
      <dt>{title.replace(/^Go to /, '')}</dt>
      <dd>
        <Kbd>{nameOf(first)}</Kbd>
        {second && (
          <>
            <span className="key-then">then</span>
            <Kbd>{nameOf(second)}</Kbd>
          </>
        )}
      </dd>
    </div>
  )
}
