import { Text, TextField } from '@radix-ui/themes'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { plain } from '../../kit/plain.ts'
import { type Address, type Typing, typingAt } from './addressing.ts'

interface AddressBoxProps {
  value: string
  set(value: string): void
  addresses: readonly Address[]
}

/** Whom a message is for. Offers names, roles and all while one types. */
export function AddressBox({ value, set, addresses }: AddressBoxProps) {
  const id = useId()
  const box = useRef<HTMLInputElement>(null)
  const [typing, setTyping] = useState<Typing>()
  const [active, setActive] = useState(0)
  const cursorAt = useRef<number>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the cursor moves once the new text is in the box
  useEffect(() => {
    if (cursorAt.current === undefined) return
    box.current?.setSelectionRange(cursorAt.current, cursorAt.current)
    cursorAt.current = undefined
  }, [value])
  const written = new Set(value.split(/[\s,;]+/))
  const options = typing
    ? addresses.filter(({ put }) => put.slice(1).toLowerCase().startsWith(typing.text) && !written.has(put))
    : []
  const look = (input: HTMLInputElement) => {
    setTyping(typingAt(input.value, input.selectionStart ?? input.value.length))
    setActive(0)
  }
  const choose = ({ put }: Address) => {
    const rest = value.slice(box.current!.selectionStart ?? value.length).trimStart()
    const before = `${value.slice(0, typing!.from)}${put} `
    cursorAt.current = before.length
    setTyping(undefined)
    set(before + rest)
    box.current?.focus()
  }
  const pressed = (event: KeyboardEvent<HTMLInputElement>) => {
    if (!options.length || event.metaKey || event.ctrlKey || event.altKey || event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const takes = event.key === 'Enter' || (event.key === 'Tab' && !event.shiftKey && !!typing?.text)
    if (step) setActive((active + step + options.length) % options.length)
    else if (takes) choose(options[Math.min(active, options.length - 1)]!)
    else if (event.key === 'Escape') setTyping(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="address-box">
      <Text as="label" size="2" weight="medium" htmlFor={id}>
        To
      </Text>
      <TextField.Root
        ref={box}
        id={id}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={options.length > 0}
        aria-controls={options.length ? `${id}-options` : undefined}
        aria-activedescendant={options.length ? `${id}-${active}` : undefined}
        autoComplete="off"
        placeholder="@name, @role or @all"
        value={value}
        onChange={event => {
          set(event.target.value)
          look(event.target)
        }}
        onFocus={event => look(event.currentTarget)}
        onClick={event => look(event.currentTarget)}
        onBlur={() => setTyping(undefined)}
        onKeyDown={pressed}
      />
      {options.length > 0 && (
        <div className="address-options" role="listbox" id={`${id}-options`} aria-label="Recipients">
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
              <span>{plain(option.put)}</span>
              <small>{plain(option.about)}</small>
            </div>
          ))}
        </div>
      )}
    </div>
  )
}
