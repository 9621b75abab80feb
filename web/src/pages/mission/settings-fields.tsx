import type { Input } from '../../api/client.ts'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { APPROVALS, LANDINGS, PRESETS, valueWords } from '../../kit/choices.ts'
import { AgentChooser } from '../../kit/choosers.tsx'
import { ChoiceInput, MinutesInput, NumberInput, SwitchInput, TextInput } from '../../kit/fields.tsx'
import { plain } from '../../kit/plain.ts'
import { useAsk } from '../../live/data.ts'
import './mission.css'

/** The settings of an agent on a mission; null: inherited from the project or the fleet. */
export type Settings = Pick<
  Required<Input<'update_mission'>>,
  | 'agent'
  | 'model'
  | 'effort'
  | 'engine'
  | 'tool_preset'
  | 'approvals'
  | 'max_turns'
  | 'max_budget_usd'
  | 'timeout_seconds'
  | 'context_limit_percent'
  | 'max_retries'
  | 'landing'
  | 'context_mode'
>

export interface Held {
  field: string
  value: string | number | null
  from: 'mission' | 'project' | 'default'
}

interface SettingsFieldsProps {
  value: Settings
  set<F extends keyof Settings>(field: F): (value: Settings[F]) => void
  /** The inherited values, and where they come from. */
  holds: readonly Held[]
  /** Fields that make no sense here. */
  without?: readonly (keyof Settings)[]
  disabled?: boolean
}

const FROM = { mission: 'This mission', project: 'From the project', default: 'From the fleet' }
const AS_HELD = 'Project default'
/** Agent, tools and limits. Every field shows the value that applies if it is empty. */
export function SettingsFields({ value, set, holds, without = [], disabled = false }: SettingsFieldsProps) {
  const agents = useAsk('list_agents', {}).data?.agents
  const titleOf = useAgentTitle()
  const models = useAsk('list_models', {}).data?.models ?? []
  const inherited = (field: string) => holds.find(held => held.field === field && held.from !== 'mission')
  const agent = value.agent ?? (inherited('agent')?.value as string | undefined) ?? null
  const known = agents?.find(each => each.name === agent)
  const inherits = inherited('agent')?.value as string | undefined
  const efforts = (known?.can.effort ?? []) as string[]
  const drivable = agents?.filter(each => each.name === agent).map(each => each.engine) ?? []
  const hint = (field: string, otherwise: string) => {
    const held = inherited(field)
    if (!held || held.value === null) return otherwise
    const value = field === 'timeout_seconds' ? Number(held.value) / 60 : held.value
    return [otherwise, `${FROM[held.from]}: ${plain(valueWords(field, value))}`].filter(Boolean).join('. ')
  }
  const shows = (field: keyof Settings) => !without.includes(field)
  const names = [...new Set(models.filter(each => each.agent === agent).flatMap(({ name, alias }) => [alias, name]))]
  return (
    <div className="mission-form">
      {shows('agent') && (
        <AgentChooser
          value={value.agent}
          set={set('agent')}
          none={inherits ? `${AS_HELD} (${plain(titleOf(inherits))})` : AS_HELD}
          hint={known?.installed === false ? known.advice : undefined}
          disabled={disabled}
        />
      )}
      {shows('model') && (
        <TextInput
          label="Model"
          hint={hint('model', '')}
          value={value.model ?? ''}
          set={text => set('model')(text.trim() || null)}
          suggestions={names.filter(name => name !== undefined)}
          placeholder={AS_HELD}
          disabled={disabled}
        />
      )}
      {shows('effort') && efforts.length > 0 && (
        <ChoiceInput
          label="Effort"
          hint="Reasoning effort"
          value={value.effort}
          set={set('effort')}
          options={efforts}
          none="The agent's default"
          disabled={disabled}
        />
      )}
      {shows('tool_preset') && (
        <ChoiceInput
          label="Tools"
          hint={hint('tool_preset', '')}
          value={value.tool_preset}
          set={preset => set('tool_preset')(preset as Settings['tool_preset'])}
          options={PRESETS}
          none={AS_HELD}
          disabled={disabled}
        />
      )}
      {shows('approvals') && (
        <ChoiceInput
          label="When an agent wants more"
          hint={hint('approvals', '')}
          value={value.approvals}
          set={mode => set('approvals')(mode as Settings['approvals'])}
          options={APPROVALS}
          none={AS_HELD}
          disabled={disabled}
        />
      )}
      {shows('landing') && (
        <ChoiceInput
          label="Landing"
          hint={hint('landing', '')}
          value={value.landing}
          set={landing => set('landing')(landing as Settings['landing'])}
          options={LANDINGS}
          none={AS_HELD}
          disabled={disabled}
        />
      )}
      <Limits {...{ value, set, hint, shows, disabled }} />
      {shows('timeout_seconds') && (
        <MinutesInput
          label="Time limit"
          hint={hint('timeout_seconds', 'For each session')}
          value={value.timeout_seconds}
          set={set('timeout_seconds')}
          min={0}
          placeholder={AS_HELD}
          disabled={disabled}
        />
      )}
      {shows('engine') && drivable.length > 1 && (
        <ChoiceInput
          label="Interface"
          hint={hint('engine', 'Its SDK does not survive a restart of the server')}
          value={value.engine}
          set={engine => set('engine')(engine as Settings['engine'])}
          options={drivable.map(value => ({ value, label: valueWords('engine', value) }))}
          none={AS_HELD}
          disabled={disabled}
        />
      )}
      {shows('context_mode') && (
        <SwitchInput
          label="Context mode"
          hint="Keeps large outputs out of the conversation"
          value={value.context_mode}
          set={set('context_mode')}
          disabled={disabled}
        />
      )}
    </div>
  )
}

const NUMBERS: readonly {
  field: 'max_turns' | 'max_budget_usd' | 'context_limit_percent' | 'max_retries'
  label: string
  about: string
  min: number
  max: number
  step?: 'any'
}[] = [
  { field: 'max_turns', label: 'Turns', about: 'At most', min: 1, max: 10_000 },
  { field: 'max_budget_usd', label: 'Budget ($)', about: 'At most', min: 0, max: 100_000, step: 'any' },
  { field: 'context_limit_percent', label: 'Context limit (%)', about: 'Then a new conversation', min: 1, max: 100 },
  { field: 'max_retries', label: 'Retries', about: 'Automatic', min: 0, max: 10 },
]

interface LimitsProps extends Pick<SettingsFieldsProps, 'value' | 'set' | 'disabled'> {
  hint(field: string, otherwise: string): string
  shows(field: keyof Settings): boolean
}

const Limits = ({ value, set, hint, shows, disabled }: LimitsProps) =>
  NUMBERS.filter(({ field }) => shows(field)).map(({ field, label, about, ...range }) => (
    <NumberInput
      key={field}
      label={label}
      hint={hint(field, about)}
      value={value[field]}
      set={set(field)}
      placeholder={AS_HELD}
      disabled={disabled}
      {...range}
    />
  ))
