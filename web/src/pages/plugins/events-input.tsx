import { CheckboxGroup, Text } from '@radix-ui/themes'
import { useId } from 'react'
import { NEWSWORTHY } from '../../../../src/domain/newsworthy.ts'
import { eventWords } from '../../kit/event-words.ts'
import { ChoiceInput } from '../../kit/fields.tsx'
import type { FleetEvent } from '../../live/fleet-events.ts'
import './events-input.css'

type Kind = FleetEvent['kind']

interface EventsInputProps {
  /** Null: the usual ones. */
  value: string[] | null
  set(value: string[] | null): void
}

/** Which events a plugin reports. */
export function EventsInput({ value, set }: EventsInputProps) {
  const id = useId()
  const chosen = value === null ? 'usual' : value.includes('*') ? 'all' : 'some'
  // Others may be named in the file.
  const kinds = [...new Set([...NEWSWORTHY, ...(chosen === 'some' ? value! : [])])]
  return (
    <>
      <ChoiceInput
        label="Events"
        value={chosen}
        set={next => set(next === 'usual' ? null : next === 'all' ? ['*'] : [...NEWSWORTHY])}
        options={[
          { value: 'usual', label: 'What may need attention, and what is over' },
          { value: 'all', label: 'Everything' },
          { value: 'some', label: 'These only' },
        ]}
      />
      {chosen === 'some' && (
        <div>
          <Text as="div" size="2" weight="medium" id={id} mb="1">
            Reported events
          </Text>
          <CheckboxGroup.Root aria-labelledby={id} value={value!} onValueChange={set} className="events-input">
            {kinds.map(kind => (
              <CheckboxGroup.Item key={kind} value={kind}>
                {eventWords({ kind: kind as Kind, data: {} })}
              </CheckboxGroup.Item>
            ))}
          </CheckboxGroup.Root>
        </div>
      )}
    </>
  )
}
