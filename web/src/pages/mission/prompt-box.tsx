import { Text, TextArea } from '@radix-ui/themes'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { plain } from '../../kit/plain.ts'
import { useAsk } from '../../live/data.ts'
import './prompt-box.css'
import { type Completing, completed, completingAt } from './prompt-completion.ts'
import { earlierPrompts } from './prompt-history.ts'

/** Something to choose after a slash. */
export interface PromptCommand {
  name: string
  about: string
  /** What happens at once. Without it, the name is put into the text. */
  run?(): void
}

interface PromptBoxProps {
  label: string
  /** Shown above the box; otherwise only read out. */
  labelled?: boolean
  hint?: React.ReactNode
  value: string
  set(value: string): void
  projectId: string | null
  /** A script has no files or commands to complete. */
  isScript: boolean
  placeholder: string
  rows: number
  autoFocus?: boolean
  commands?: readonly PromptCommand[]
}

const MOST_FILES = 8

/** The text of a mission: completes files after @ and commands after /, and brings back earlier prompts. */
export function PromptBox(props: PromptBoxProps) {
  const { label, labelled = false, hint, value, set, projectId, isScript, commands = [], ...rest } = props
  const id = useId()
  const box = useRef<HTMLTextAreaElement>(null)
  const [completing, setCompleting] = useState<Completing>()
  const [active, setActive] = useState(0)
  const options = useOptions(isScript ? undefined : completing, projectId, commands)
  const back = useHistory(value, set)
  const cursorAt = useRef<number>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the cursor moves once the new text is in the box
  useEffect(() => {
    if (cursorAt.current === undefined) return
    box.current?.setSelectionRange(cursorAt.current, cursorAt.current)
    cursorAt.current = undefined
  }, [value])
  const look = (area: HTMLTextAreaElement) => {
    setCompleting(area.selectionStart === area.selectionEnd ? completingAt(area.value, area.selectionStart) : undefined)
    setActive(0)
  }
  const choose = (option: Option) => {
    setCompleting(undefined)
    if (option.run) return option.run()
    const next = completed(value, box.current!.selectionStart, completing!, option.put)
    cursorAt.current = next.cursor
    set(next.text)
    box.current?.focus()
  }
  const pressed = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.nativeEvent.isComposing) return
    const done = () => event.preventDefault()
    if (options.length) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (step) {
        done()
        return setActive((active + step + options.length) % options.length)
      }
      if ((event.key === 'Enter' && !event.shiftKey) || event.key === 'Tab') {
        done()
        return choose(options[Math.min(active, options.length - 1)]!)
      }
      if (event.key === 'Escape') {
        done()
        event.stopPropagation()
        return setCompleting(undefined)
      }
    }
    if ((event.key === 'ArrowUp' || event.key === 'ArrowDown') && back(event.key, event.currentTarget)) done()
  }
  return (
    <div className="prompt-box">
      {labelled && (
        <Text as="label" size="2" weight="medium" htmlFor={id} mb="1">
          {label}
        </Text>
      )}
      <TextArea
        ref={box}
        id={id}
        {...(!labelled && { 'aria-label': label })}
        aria-autocomplete="list"
        aria-controls={options.length ? `${id}-options` : undefined}
        aria-activedescendant={options.length ? `${id}-${active}` : undefined}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className={isScript ? 'code-field' : undefined}
        spellCheck={!isScript}
        value={value}
        resize="vertical"
        onChange={event => {
          set(event.target.value)
          look(event.target)
        }}
        onClick={event => look(event.currentTarget)}
        onBlur={() => setCompleting(undefined)}
        onKeyDown={pressed}
        {...rest}
      />
      {options.length > 0 && (
        <div className="prompt-options" role="listbox" id={`${id}-options`} aria-label={OFFERS[completing!.kind]}>
          {options.map((option, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys work in the box, which keeps the focus
            <div
              key={option.put}
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              // The box keeps the focus.
              onMouseDown={event => event.preventDefault()}
              onClick={() => choose(option)}
            >
              <span>{plain(option.title)}</span>
              {option.about && <small>{plain(option.about)}</small>}
            </div>
          ))}
        </div>
      )}
      {hint && (
        <Text size="1" color="gray" id={`${id}-hint`} mt="1">
          {hint}
        </Text>
      )}
    </div>
  )
}

const OFFERS = { file: 'Files', command: 'Commands' }

interface Option {
  title: string
  about?: string
  /** The text for the box. */
  put: string
  run?(): void
}

function useOptions(
  completing: Completing | undefined,
  projectId: string | null,
  commands: readonly PromptCommand[],
): Option[] {
  const isFile = completing?.kind === 'file' && projectId !== null
  const wanted = { project_id: projectId ?? '', text: isFile ? completing.text : '', limit: MOST_FILES }
  const { data } = useAsk('suggest_files', wanted, { enabled: isFile, keep: true })
  if (isFile) return data?.files.map(path => ({ title: path, put: `@${path}` })) ?? []
  if (completing?.kind !== 'command') return []
  return commands
    .filter(({ name }) => name.startsWith(completing.text))
    .map(({ name, about, run }) => ({ title: `/${name}`, about, put: `/${name}`, run }))
}

/** Up at the beginning of the box brings back the prompt before; down goes back to what was typed. */
function useHistory(value: string, set: (value: string) => void) {
  const at = useRef(-1)
  const typed = useRef('')
  const shown = useRef<string>(undefined)
  return (key: 'ArrowUp' | 'ArrowDown', area: HTMLTextAreaElement): boolean => {
    const isBrowsing = shown.current === value && at.current >= 0
    if (!isBrowsing) at.current = -1
    const edge = key === 'ArrowUp' ? 0 : value.length
    if (!isBrowsing && (key === 'ArrowDown' || area.selectionEnd !== edge)) return false
    const prompts = earlierPrompts()
    const next = at.current + (key === 'ArrowUp' ? 1 : -1)
    if (next >= prompts.length) return isBrowsing
    if (at.current === -1) typed.current = value
    at.current = next
    shown.current = next < 0 ? typed.current : prompts[next]!
    set(shown.current)
    return true
  }
}
