import { Button, Flex, Text } from '@radix-ui/themes'
import { useId, useState } from 'react'
import { cronOf, type Repeats, repeatsOf, WORKDAYS } from '../../../../src/domain/rules/cron-words.ts'
import { ChoiceInput, NumberInput, TextInput } from '../../kit/fields.tsx'

const CUSTOM = 'custom'
const CHOICES = [
  { value: 'minutes', label: 'Every few minutes' },
  { value: 'hour', label: 'Every hour' },
  { value: 'hours', label: 'Every few hours' },
  { value: 'day', label: 'Every day' },
  { value: 'week', label: 'On some days of the week' },
  { value: 'month', label: 'Every month' },
  { value: CUSTOM, label: 'Custom (cron expression)' },
]
const STARTS: Record<Repeats['every'], Repeats> = {
  minutes: { every: 'minutes', step: 15 },
  hour: { every: 'hour', minute: 0 },
  hours: { every: 'hours', step: 6, minute: 0 },
  day: { every: 'day', hour: 7, minute: 0 },
  week: { every: 'week', days: [...WORKDAYS], hour: 7, minute: 0 },
  month: { every: 'month', day: 1, hour: 7, minute: 0 },
}
/** The week begins on Monday. */
const WEEK = [
  [1, 'Mon'],
  [2, 'Tue'],
  [3, 'Wed'],
  [4, 'Thu'],
  [5, 'Fri'],
  [6, 'Sat'],
  [0, 'Sun'],
] as const

interface BuilderProps {
  cron: string
  set(cron: string): void
}

/** A cron rule, chosen for the usual cases and written for the others. */
export function RepeatsInput({ cron, set }: BuilderProps) {
  const repeats = repeatsOf(cron)
  const [isCustom, setCustom] = useState(repeats === null)
  const build = (next: Repeats) => set(cronOf(next))
  return (
    <>
      <ChoiceInput
        label="Repeats"
        value={isCustom || !repeats ? CUSTOM : repeats.every}
        set={choice => {
          setCustom(choice === CUSTOM)
          if (choice && choice !== CUSTOM) build(STARTS[choice as Repeats['every']])
        }}
        options={CHOICES}
      />
      {isCustom || !repeats ? (
        <TextInput
          label="Cron expression"
          hint="Minute, hour, day of the month, month and weekday, such as 30 6 * * 1-5"
          value={cron}
          set={set}
          required
        />
      ) : (
        <Fields repeats={repeats} set={build} />
      )}
    </>
  )
}

const MINUTES = ['1', '2', '5', '10', '15', '20', '30']
const HOURS = ['2', '3', '4', '6', '8', '12']

function Fields({ repeats, set }: { repeats: Repeats; set(repeats: Repeats): void }) {
  if (repeats.every === 'minutes')
    return (
      <ChoiceInput
        label="Minutes between runs"
        value={String(repeats.step)}
        set={step => step && set({ ...repeats, step: Number(step) })}
        options={withOwn(MINUTES, repeats.step)}
      />
    )
  if (repeats.every === 'hour' || repeats.every === 'hours')
    return (
      <>
        {repeats.every === 'hours' && (
          <ChoiceInput
            label="Hours between runs"
            value={String(repeats.step)}
            set={step => step && set({ ...repeats, step: Number(step) })}
            options={withOwn(HOURS, repeats.step)}
          />
        )}
        <NumberInput
          label="Minutes past the hour"
          value={repeats.minute}
          set={minute => minute !== null && minute >= 0 && minute <= 59 && set({ ...repeats, minute })}
          min={0}
          max={59}
        />
      </>
    )
  return (
    <>
      {repeats.every === 'week' && <Weekdays days={repeats.days} set={days => set({ ...repeats, days })} />}
      {repeats.every === 'month' && (
        <NumberInput
          label="Day of the month"
          value={repeats.day}
          set={day => day !== null && day >= 1 && day <= 31 && set({ ...repeats, day })}
          min={1}
          max={31}
        />
      )}
      <TimeInput hour={repeats.hour} minute={repeats.minute} set={at => set({ ...repeats, ...at })} />
    </>
  )
}

const withOwn = (steps: readonly string[], own: number): readonly string[] =>
  steps.includes(String(own)) ? steps : [...steps, String(own)]

function Weekdays({ days, set }: { days: readonly number[]; set(days: number[]): void }) {
  const id = useId()
  const toggle = (day: number) => {
    const next = days.includes(day) ? days.filter(each => each !== day) : [...days, day]
    // A rule without a day would never run.
    if (next.length) set(next.sort((one, other) => one - other))
  }
  return (
    <Flex direction="column" gap="1" role="group" aria-labelledby={id}>
      <Text size="2" weight="medium" id={id}>
        Days
      </Text>
      <Flex gap="1" wrap="wrap">
        {WEEK.map(([day, name]) => (
          <Button
            key={day}
            type="button"
            size="1"
            variant={days.includes(day) ? 'solid' : 'soft'}
            color={days.includes(day) ? undefined : 'gray'}
            highContrast={!days.includes(day)}
            aria-pressed={days.includes(day)}
            onClick={() => toggle(day)}
          >
            {name}
          </Button>
        ))}
      </Flex>
    </Flex>
  )
}

interface At {
  hour: number
  minute: number
}

const two = (value: number): string => String(value).padStart(2, '0')

function TimeInput({ hour, minute, set }: At & { set(at: At): void }) {
  return (
    <TextInput
      label="Time"
      type="time"
      value={`${two(hour)}:${two(minute)}`}
      set={text => {
        const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(text) ?? []
        if (hours && minutes) set({ hour: Number(hours), minute: Number(minutes) })
      }}
      required
    />
  )
}
