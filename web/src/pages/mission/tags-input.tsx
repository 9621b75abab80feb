import { useState } from 'react'
import { TextInput } from '../../kit/fields.tsx'

const split = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map(tag => tag.trim())
      .filter(Boolean),
  ),
]

/** Tags, with commas between them. What is being typed stays as it is typed. */
export function TagsInput({ tags, set }: { tags: string[]; set(tags: string[]): void }) {
  const [text, setText] = useState<string>()
  const shown = text !== undefined && split(text).join() === tags.join() ? text : tags.join(', ')
  return (
    <TextInput
      label="Tags"
      hint="with commas between them"
      value={shown}
      set={now => {
        setText(now)
        set(split(now))
      }}
    />
  )
}
