import { Button, Card, Flex, Heading, Text } from '@radix-ui/themes'
import { Search } from 'lucide-react'
import { useId, useRef, useState } from 'react'
import { Empty } from '../../kit/page.tsx'
import { SaveBar } from '../../kit/save-bar.tsx'
import { tell } from '../../kit/toasts.tsx'
import { plural } from '../../kit/words.ts'
import { useCommand } from '../../live/data.ts'
import { Control } from './control.tsx'
import { type Edit, isFixed, type Setting, sourceOf, TAKES } from './setting.ts'

export const anchorOf = (section: string): string => section.toLowerCase().replaceAll(' ', '-')

interface Started extends Edit {
  /** The saved value when the edit began. */
  from: string
}

/** All settings that match, by section. They are saved together. */
export function SettingsForm({ settings, text }: { settings: Setting[]; text: string }) {
  const [edits, setEdits] = useState<Record<string, Started>>({})
  // Fields keep what was typed; a new generation of them starts from what is saved.
  const [generation, setGeneration] = useState(0)
  const form = useRef<HTMLFormElement>(null)
  const start = ({ key, value }: Setting, edit: Edit) =>
    setEdits(all => ({ ...all, [key]: { from: JSON.stringify(value), ...all[key], ...edit } }))
  const startOver = () => {
    setEdits({})
    setGeneration(number => number + 1)
  }
  const { run, busy } = useCommand('set_settings', {
    affects: ['get_settings'],
    refused: ({ field, message }) => {
      const edit = field === undefined ? undefined : edits[field]
      if (!field || !edit) return false
      setEdits({ ...edits, [field]: { ...edit, problem: message } })
      return true
    },
  })
  const save = async () => {
    if (busy) return
    if (Object.values(edits).some(({ problem }) => problem))
      return form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
    const keys = Object.keys(edits)
    const before = Object.fromEntries(
      settings
        .filter(({ key }) => keys.includes(key))
        .map(({ key, value, origin }) => [key, origin === 'file' ? value : null]),
    )
    const saved = await run({ settings: Object.fromEntries(keys.map(key => [key, edits[key]!.value])) })
    if (!saved) return
    startOver()
    const undo = async () => {
      if (await run({ settings: before })) startOver()
    }
    tell({ text: `Saved ${plural(keys.length, 'setting')}.`, action: { label: 'Undo', run: () => void undo() } })
  }
  const wanted = text.trim().toLowerCase()
  const matching = settings.filter(({ key, title, section, summary }) =>
    `${key} ${title} ${section} ${summary}`.toLowerCase().includes(wanted),
  )
  const sections = Map.groupBy(matching, ({ section }) => section)
  if (matching.length === 0)
    return (
      <Empty icon={Search} title="No results">
        No setting matches “{text}”.
      </Empty>
    )
  return (
    <form
      ref={form}
      onSubmit={event => {
        event.preventDefault()
        save()
      }}
    >
      {[...sections].map(([section, list]) => (
        <section key={section} className="section" aria-labelledby={anchorOf(section)}>
          <Heading as="h2" size="3" mb="2" id={anchorOf(section)} className="settings-anchor">
            {section}
          </Heading>
          <Card className="settings-card">
            {list.map(setting => (
              <Row
                // A value that changed elsewhere shows at once, unless it is being edited here.
                key={`${setting.key} ${generation} ${edits[setting.key]?.from ?? JSON.stringify(setting.value)}`}
                setting={setting}
                edit={edits[setting.key]}
                change={edit => start(setting, edit)}
                reset={() => run({ settings: { [setting.key]: null } })}
              />
            ))}
          </Card>
        </section>
      ))}
      {Object.keys(edits).length > 0 && <SaveBar busy={busy} reset={startOver} />}
    </form>
  )
}

interface RowProps {
  setting: Setting
  edit: Edit | undefined
  change(edit: Edit): void
  reset(): void
}

function Row({ setting, edit, change, reset }: RowProps) {
  const id = useId()
  const { key, title, summary, default_in_words, origin, takes_effect, form } = setting
  const source = sourceOf(setting)
  return (
    <div className="setting" data-setting={key}>
      <div className="setting-about">
        {form.kind === 'counts' ? (
          <Text as="div" size="2" weight="medium">
            {title}
          </Text>
        ) : (
          <Text as="label" size="2" weight="medium" htmlFor={id}>
            {title}
          </Text>
        )}
        <Text as="div" size="2" color="gray" id={`${id}-about`}>
          {summary} {TAKES[takes_effect]}
        </Text>
      </div>
      <div className="setting-control">
        <Control
          setting={setting}
          labels={{ id, 'aria-describedby': `${id}-problem ${id}-about ${id}-source` }}
          isInvalid={!!edit?.problem}
          edit={change}
        />
        <Text as="div" size="1" color="red" highContrast id={`${id}-problem`} aria-live="polite">
          {edit?.problem}
        </Text>
        <Flex gap="2" align="center" wrap="wrap">
          <Text size="1" color="gray" id={`${id}-source`}>
            {origin === 'default' && !edit ? 'Default' : source}
            {!isFixed(setting) && (origin !== 'default' || edit) && ` Default: ${default_in_words || 'none'}.`}
          </Text>
          {origin === 'file' && !edit && (
            <Button type="button" size="1" variant="ghost" highContrast aria-label={`Reset ${title}`} onClick={reset}>
              Reset
            </Button>
          )}
        </Flex>
      </div>
    </div>
  )
}
