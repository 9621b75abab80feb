import { Badge, IconButton, Text, TextField } from '@radix-ui/themes'
import { Search, X } from 'lucide-react'
import { type KeyboardEvent, useDeferredValue, useId, useState } from 'react'
import { plain } from '../../kit/plain.ts'
import { StatusDot } from '../../kit/status.tsx'
import { shortId } from '../../kit/words.ts'
import { useMissions } from '../../live/data.ts'
import type { Mission } from '../../live/mending.ts'

const FOUND = 8

interface FindMissionProps {
  label: string
  project?: string | null
  /** These are not offered. */
  except?: readonly string[]
  chosen(mission: Mission): void
}

/** Finds a mission by its words or its id. */
export function FindMission({ label, project, except = [], chosen }: FindMissionProps) {
  const id = useId()
  const [text, setText] = useState('')
  const [open, setOpen] = useState(false)
  const [at, setAt] = useState(0)
  const wanted = useDeferredValue(text.trim())
  const filter = { text: wanted || undefined, project_id: project ?? undefined, limit: FOUND + except.length }
  const { missions } = useMissions(filter, { enabled: open })
  const found = missions.filter(mission => !except.includes(mission.id)).slice(0, FOUND)
  const take = (mission: Mission | undefined) => {
    if (!mission) return
    chosen(mission)
    setText('')
    setOpen(false)
  }
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) setAt(now => (now + step + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter' && open) take(found[at])
    else if (event.key === 'Escape' && open) setOpen(false)
    else return
    event.preventDefault()
  }
  return (
    <div className="picker">
      <TextField.Root
        role="combobox"
        aria-label={label}
        aria-expanded={open}
        aria-controls={`${id}-list`}
        aria-activedescendant={open && found[at] ? `${id}-${at}` : undefined}
        placeholder="Find a mission by text or id…"
        value={text}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onChange={event => {
          setText(event.target.value)
          setAt(0)
          setOpen(true)
        }}
        onKeyDown={pressed}
      >
        <TextField.Slot>
          <Search size={14} aria-hidden />
        </TextField.Slot>
      </TextField.Root>
      {open && found.length > 0 && (
        <div className="picker-list" role="listbox" id={`${id}-list`} aria-label="Missions found">
          {found.map((mission, index) => (
            <button
              key={mission.id}
              id={`${id}-${index}`}
              type="button"
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              className="picker-item"
              // Keeps the focus in the text field during a click.
              onMouseDown={event => event.preventDefault()}
              onClick={() => take(mission)}
            >
              <StatusDot status={mission.status} />
              <span>{plain(mission.title)}</span>
              <code>{shortId(mission.id)}</code>
            </button>
          ))}
        </div>
      )}
      {open && wanted && found.length === 0 && (
        <Text as="p" size="1" color="gray" my="1" role="status">
          No mission matches “{wanted}”.
        </Text>
      )}
    </div>
  )
}

interface ChosenMissionsProps {
  ids: readonly string[]
  set(ids: string[]): void
  label: string
  project?: string | null
  except?: readonly string[]
}

/** Several missions, each with a button to remove it. */
export function ChosenMissions({ ids, set, label, project, except = [] }: ChosenMissionsProps) {
  const { missions } = useMissions({ ids: [...ids], limit: 200 }, { enabled: ids.length > 0 })
  const titles = new Map(missions.map(mission => [mission.id, mission]))
  return (
    <div>
      {ids.length > 0 && (
        <div className="chips">
          {ids.map(id => {
            const mission = titles.get(id)
            return (
              <Badge key={id} size="2" color="gray" variant="surface" highContrast>
                {mission && <StatusDot status={mission.status} />}
                {plain(mission?.title ?? shortId(id))}
                <IconButton
                  type="button"
                  size="1"
                  variant="ghost"
                  color="gray"
                  aria-label={`Remove ${plain(mission?.title ?? id)}`}
                  onClick={() => set(ids.filter(each => each !== id))}
                >
                  <X size={12} />
                </IconButton>
              </Badge>
            )
          })}
        </div>
      )}
      <FindMission
        label={label}
        project={project}
        except={[...ids, ...except]}
        chosen={mission => set([...ids, mission.id])}
      />
    </div>
  )
}
