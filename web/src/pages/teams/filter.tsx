import { Select } from '@radix-ui/themes'

const ANY = ' '

interface FilterProps {
  label: string
  value: string | null
  set(value: string | null): void
  options: readonly (readonly [value: string, label: string])[]
  /** The label for no choice. */
  any: string
}

/** A choice without a label of its own, for a row of filters. */
export const Filter = ({ label, value, set, options, any }: FilterProps) => (
  <Select.Root size="2" value={value ?? ANY} onValueChange={chosen => set(chosen === ANY ? null : chosen)}>
    <Select.Trigger aria-label={label} variant="soft" color="gray" />
    <Select.Content position="popper">
      <Select.Item value={ANY}>{any}</Select.Item>
      {options.map(([each, words]) => (
        <Select.Item key={each} value={each}>
          {words}
        </Select.Item>
      ))}
    </Select.Content>
  </Select.Root>
)
