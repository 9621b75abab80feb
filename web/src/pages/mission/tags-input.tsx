import { useState } from 'react'
import { TextInput } from '../../kit/fields.tsx'

const split = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map(word => word.trim())
      .filter(Boolean),
  ),
]

interface WordsInputProps {
  label: string
  hint: string
  words: string[]
  set(words: string[]): void
  disabled?: boolean
}

/** Words separated by commas. The text stays as it is while it is typed. */
export function WordsInput({ words, set, ...rest }: WordsInputProps) {
  const [text, setText] = useState<string>()
  const shown = text !== undefined && split(text).join() === words.join() ? text : words.join(', ')
  return (
    <TextInput
      {...rest}
      value={shown}
      set={now => {
        setText(now)
        set(split(now))
      }}
    />
  )
}

export const TagsInput = ({ tags, set }: { tags: string[]; set(tags: string[]): void }) => (
  <WordsInput label="Tags" hint="Separated by commas" words={tags} set={set} />
)
