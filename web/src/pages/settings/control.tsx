import { Flex, Select, Text, TextArea, TextField } from '@radix-ui/themes'
import { useState } from 'react'
import { amountOf, UNITS } from '../../../../src/domain/units.ts'
import { useAsk } from '../../live/data.ts'
import { type Edit, type FormOf, isFixed, lines, numberEdit, type Setting } from './setting.ts'

interface ControlProps {
  setting: Setting
  /** Its label is for this id; the ids of the texts that describe it. */
  labels: { id: string; 'aria-describedby': string }
  isInvalid: boolean
  edit(edit: Edit): void
}

/** The field for a setting, by its kind. */
export function Control(props: ControlProps) {
  const { form } = props.setting
  if (form.kind === 'number') return <NumberControl {...props} form={form} />
  if (form.kind === 'choice') return <ChoiceControl {...props} options={form.choices} />
  if (form.kind === 'agent') return <AgentControl {...props} />
  if (form.kind === 'list') return <ListControl {...props} />
  if (form.kind === 'counts') return <CountsControl {...props} />
  return <TextControl {...props} />
}

const isOwn = ({ origin }: Setting): boolean => origin !== 'default'

function NumberControl({ setting, labels, isInvalid, edit, form }: ControlProps & { form: FormOf<'number'> }) {
  const known = (isOwn(setting) ? setting.value : setting.default) as number | null
  const sizes = form.unit ? Object.keys(UNITS[form.unit]) : []
  const start = form.unit && known !== null ? amountOf(known, form.unit) : { amount: known, size: sizes.at(-1) ?? '' }
  const [text, setText] = useState(isOwn(setting) ? String(start.amount ?? '') : '')
  const [size, setSize] = useState(start.size)
  const change = (nextText: string, nextSize: string) => {
    setText(nextText)
    setSize(nextSize)
    edit(numberEdit(nextText, nextSize, form, setting.expects))
  }
  return (
    <Flex gap="2" align="center">
      <TextField.Root
        {...labels}
        className="setting-number"
        inputMode="decimal"
        value={text}
        placeholder={start.amount === null ? setting.default_in_words : String(start.amount)}
        disabled={isFixed(setting)}
        aria-invalid={isInvalid || undefined}
        onChange={event => change(event.target.value, size)}
      />
      {sizes.length > 1 ? (
        <Select.Root value={size} onValueChange={next => change(text, next)} disabled={isFixed(setting)}>
          <Select.Trigger aria-label={`Unit of ${setting.title}`} />
          <Select.Content position="popper">
            {sizes.map(each => (
              <Select.Item key={each} value={each}>
                {each}
              </Select.Item>
            ))}
          </Select.Content>
        </Select.Root>
      ) : (
        size && (
          <Text size="2" color="gray">
            {size}
          </Text>
        )
      )}
    </Flex>
  )
}

interface Option {
  value: string
  label: string
}
const NONE = ' '

function ChoiceControl({ setting, labels, edit, options, none }: ControlProps & { options: Option[]; none?: string }) {
  const [value, setValue] = useState((setting.value as string | null) ?? NONE)
  return (
    <Select.Root
      value={value}
      disabled={isFixed(setting)}
      onValueChange={next => {
        setValue(next)
        edit({ value: next === NONE ? null : next, problem: null })
      }}
    >
      <Select.Trigger {...labels} className="setting-wide" />
      <Select.Content position="popper">
        {none && <Select.Item value={NONE}>{none}</Select.Item>}
        {options.map(option => (
          <Select.Item key={option.value} value={option.value}>
            {option.label}
          </Select.Item>
        ))}
      </Select.Content>
    </Select.Root>
  )
}

/** The agents that a person can name, each once. */
function useAgentOptions(scripts: boolean): Option[] {
  const agents = useAsk('list_agents', {}).data?.agents ?? []
  const offered = agents.filter(({ can }) => scripts || !can.scripts)
  // An agent that can be driven in several ways has the title of the first.
  return [...Map.groupBy(offered, ({ name }) => name)].map(([value, ways]) => ({ value, label: ways[0]!.title }))
}

function AgentControl(props: ControlProps) {
  const options = useAgentOptions(false)
  const named = props.setting.value as string | null
  const all =
    named && !options.some(({ value }) => value === named) ? [{ value: named, label: named }, ...options] : options
  return <ChoiceControl {...props} options={all} none={props.setting.default_in_words} />
}

function TextControl({ setting, labels, isInvalid, edit }: ControlProps) {
  const [text, setText] = useState(isOwn(setting) ? String(setting.value ?? '') : '')
  return (
    <TextField.Root
      {...labels}
      className="setting-wide"
      value={text}
      placeholder={setting.default_in_words}
      disabled={isFixed(setting)}
      aria-invalid={isInvalid || undefined}
      onChange={event => {
        setText(event.target.value)
        edit({ value: event.target.value.trim() || null, problem: null })
      }}
    />
  )
}

function ListControl({ setting, labels, isInvalid, edit }: ControlProps) {
  const [text, setText] = useState((setting.value as string[]).join('\n'))
  return (
    <TextArea
      {...labels}
      className="setting-wide"
      rows={2}
      resize="vertical"
      value={text}
      placeholder={`${setting.default_in_words} (one per line)`}
      disabled={isFixed(setting)}
      aria-invalid={isInvalid || undefined}
      onChange={event => {
        setText(event.target.value)
        const list = lines(event.target.value)
        edit({ value: list.length ? list : null, problem: null })
      }}
    />
  )
}

function CountsControl({ setting, labels, isInvalid, edit }: ControlProps) {
  const known = setting.value as Record<string, number>
  const options = useAgentOptions(true)
  const [texts, setTexts] = useState<Record<string, string>>({})
  const names = new Map(options.map(({ value, label }) => [value, label]))
  for (const name of Object.keys(known)) if (!names.has(name)) names.set(name, name)
  const textOf = (name: string): string => texts[name] ?? (known[name] === undefined ? '' : String(known[name]))
  const change = (name: string, text: string) => {
    const next = { ...texts, [name]: text }
    setTexts(next)
    const said = [...names.keys()].map(each => [each, (each === name ? text : textOf(each)).trim()] as const)
    const given = said.filter(([, count]) => count)
    const isValid = given.every(([, count]) => /^\d+$/.test(count) && Number(count) >= 1 && Number(count) <= 500)
    const counts = Object.fromEntries(given.map(([each, count]) => [each, Number(count)]))
    edit({
      value: given.length ? counts : null,
      problem: isValid ? null : 'Must be a whole number from 1 to 500 for each agent.',
    })
  }
  return (
    <fieldset className="setting-counts" aria-label={setting.title} {...labels}>
      {[...names].map(([name, title]) => (
        <div key={name} className="setting-count">
          <Text size="2">{title}</Text>
          <TextField.Root
            aria-label={title}
            inputMode="numeric"
            value={textOf(name)}
            placeholder={setting.default_in_words}
            disabled={isFixed(setting)}
            aria-invalid={isInvalid || undefined}
            onChange={event => change(name, event.target.value)}
          />
        </div>
      ))}
    </fieldset>
  )
}
