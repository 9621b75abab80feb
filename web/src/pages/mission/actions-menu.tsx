import { Button, DropdownMenu } from '@radix-ui/themes'
import { Ellipsis } from 'lucide-react'
import { useShortcuts } from '../../shell/keys.ts'
import type { Acting } from './acting.tsx'
import { FACES } from './acting.tsx'
import type { Action } from './actions.ts'

/** Actions with a dialog have an ellipsis. */
const ASKS: readonly Action[] = [
  'dispatch',
  'resume',
  'retry',
  'reopen',
  'send_back',
  'say',
  'fork',
  'compare',
  'schedule',
  'save_template',
  'take_over',
]
/** A separator comes before these. */
const GROUPS: readonly Action[] = ['next', 'schedule', 'cancel', 'delete']

/** The most likely action as a button, and all possible ones in a menu. Common ones have a key. */
export function ActionsMenu({ acting: { offered, main, act, atOnce, busy, dialog } }: { acting: Acting }) {
  useShortcuts(
    offered.flatMap(action => {
      const { key, label } = FACES[action]
      return key ? [{ keys: key, title: `${label}${ASKS.includes(action) ? '…' : ''}`, run: () => act(action) }] : []
    }),
  )
  const Icon = main && FACES[main].icon
  const rest = offered.filter(action => action !== main || ASKS.includes(action))
  return (
    <>
      {main && Icon && (
        <Button onClick={() => atOnce(main)} loading={busy}>
          <Icon size={16} /> {FACES[main].label}
        </Button>
      )}
      <DropdownMenu.Root>
        <DropdownMenu.Trigger>
          <Button variant="soft" color="gray" highContrast>
            <Ellipsis size={16} /> Actions
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Content align="end">
          {rest.map((action, index) => {
            const { label, icon: Each, key, tone } = FACES[action]
            return (
              <div key={action} role="none">
                {index > 0 && startsGroup(action, rest[index - 1]!) && <DropdownMenu.Separator />}
                <DropdownMenu.Item color={tone} shortcut={key} onSelect={() => act(action)}>
                  <Each size={14} /> {label}
                  {ASKS.includes(action) && '…'}
                </DropdownMenu.Item>
              </div>
            )
          })}
        </DropdownMenu.Content>
      </DropdownMenu.Root>
      {dialog}
    </>
  )
}

const ORDER = Object.keys(FACES)
const groupOf = (action: Action): number => GROUPS.filter(each => ORDER.indexOf(each) <= ORDER.indexOf(action)).length
const startsGroup = (action: Action, before: Action): boolean => groupOf(action) !== groupOf(before)
