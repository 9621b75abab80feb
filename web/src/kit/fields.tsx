import { Flex, Select, Switch, Text, TextArea, TextField } from '@radix-ui/themes'
import { type ReactNode, useId } from 'react'

interface FieldProps {
  label: string
  /** What the field means, or what applies if it is empty. */
  hint?: ReactNode
}

function Labelled({ label, hint, id, children }: FieldProps & { id: string; children: ReactNode }) {
  return (
    <Flex direction="column" gap="1" minWidth="0">
      <Text as="label" size="2" weight="medium" htmlFor={id}>
        {label}
      </Text>
      {children}
      {hint && (
        <Text size="1" color="gray" id={`${id}-hint`}>
          {hint}
        </Text>
      )}
    </Flex>
  )
}

interface TextProps extends FieldProps {
  value: string
  set(value: string): void
  placeholder?: string
  required?: boolean
  disabled?: boolean
}

const described = (id: string, hint: ReactNode): { id: string; 'aria-describedby': string | undefined } => ({
  id,
  'aria-describedby': hint ? `${id}-hint` : undefined,
})

interface LineProps extends TextProps {
  /** Common values. Others are possible too. */
  suggestions?: readonly string[]
  type?: 'text' | 'password' | 'time' | 'datetime-local'
}

export function TextInput({ label, hint, value, set, suggestions, ...rest }: LineProps) {
  const id = useId()
  return (
    <Labelled label={label} hint={hint} id={id}>
      <TextField.Root
        {...described(id, hint)}
        {...(suggestions?.length && { list: `${id}-list`, autoComplete: 'off' })}
        value={value}
        onChange={event => set(event.target.value)}
        {...rest}
      />
      {!!suggestions?.length && (
        <datalist id={`${id}-list`}>
          {suggestions.map(each => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </Labelled>
  )
}

interface LongTextProps extends TextProps {
  rows?: number
  /** It is code, not prose. */
  code?: boolean
}

export function LongTextInput({ label, hint, value, set, rows = 4, code = false, ...rest }: LongTextProps) {
  const id = useId()
  return (
    <Labelled label={label} hint={hint} id={id}>
      <TextArea
        {...described(id, hint)}
        value={value}
        rows={rows}
        resize="vertical"
        spellCheck={!code}
        className={code ? 'code-field' : undefined}
        onChange={event => set(event.target.value)}
        {...rest}
      />
    </Labelled>
  )
}

interface NumberProps extends FieldProps {
  value: number | null
  set(value: number | null): void
  min?: number
  max?: number
  step?: number | 'any'
  placeholder?: string
  disabled?: boolean
}

/** Empty means no value. */
export function NumberInput({ label, hint, value, set, ...rest }: NumberProps) {
  const id = useId()
  return (
    <Labelled label={label} hint={hint} id={id}>
      <TextField.Root
        {...described(id, hint)}
        type="number"
        inputMode="decimal"
        value={value ?? ''}
        onChange={event => set(event.target.value === '' ? null : Number(event.target.value))}
        {...rest}
      />
    </Labelled>
  )
}

/** A time that is stored in seconds, filled in as minutes. */
export const MinutesInput = ({ label, value, set, ...rest }: NumberProps) => (
  <NumberInput
    label={`${label} (minutes)`}
    value={value === null ? null : Number((value / 60).toFixed(2))}
    set={minutes => set(minutes === null ? null : Math.round(minutes * 60))}
    step="any"
    {...rest}
  />
)

export interface Option {
  value: string
  label: string
}

interface ChoiceProps extends FieldProps {
  value: string | null
  set(value: string | null): void
  options: readonly (Option | string)[]
  /** The label for no choice. Without it, something is always chosen. */
  none?: string
  disabled?: boolean
}

const NONE = ' '

export function ChoiceInput({ label, hint, value, set, options, none, disabled }: ChoiceProps) {
  const id = useId()
  const all = options.map(option => (typeof option === 'string' ? { value: option, label: option } : option))
  return (
    <Labelled label={label} hint={hint} id={id}>
      <Select.Root
        value={value ?? (none ? NONE : '')}
        onValueChange={chosen => set(chosen === NONE ? null : chosen)}
        disabled={disabled}
      >
        <Select.Trigger {...described(id, hint)} placeholder="Choose…" className="choice-trigger" />
        <Select.Content position="popper">
          {none && <Select.Item value={NONE}>{none}</Select.Item>}
          {all.map(option => (
            <Select.Item key={option.value} value={option.value}>
              {option.label}
            </Select.Item>
          ))}
        </Select.Content>
      </Select.Root>
    </Labelled>
  )
}

interface SwitchProps extends FieldProps {
  value: boolean
  set(value: boolean): void
  disabled?: boolean
}

export function SwitchInput({ label, hint, value, set, disabled }: SwitchProps) {
  const id = useId()
  return (
    <Flex gap="3" align="start">
      <Switch {...described(id, hint)} checked={value} onCheckedChange={set} disabled={disabled} />
      <Flex direction="column">
        <Text as="label" size="2" weight="medium" htmlFor={id}>
          {label}
        </Text>
        {hint && (
          <Text size="1" color="gray" id={`${id}-hint`}>
            {hint}
          </Text>
        )}
      </Flex>
    </Flex>
  )
}

export const ScriptsSwitch = (props: Pick<SwitchProps, 'value' | 'set'>) => (
  <SwitchInput {...props} label="Allow scripts" hint="Missions that run as shell scripts, without an agent" />
)
