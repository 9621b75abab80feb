import { Button } from '@radix-ui/themes'
import { lazy, Suspense, useState } from 'react'
import { Foreign } from './foreign.tsx'
import './markdown.css'
import { cutTo } from './plain.ts'
import { bytes } from './words.ts'

const Rendered = lazy(() => import('./markdown-rendered.tsx'))
/** Longer texts are not written by hand, and parsing them would block the page. */
const MAX_CHARS = 60_000

/** Shows Markdown of agents and people. Never HTML: tags are shown as text. */
export function Markdown({ text }: { text: string }) {
  const letters = <Foreign text={text} />
  if (text.length > MAX_CHARS) return letters
  return (
    <Suspense fallback={letters}>
      <Rendered text={text} />
    </Suspense>
  )
}

/** The beginning of a text, with a button to show all of it. */
export function MarkdownExcerpt({ text, lines, chars }: { text: string; lines: number; chars: number }) {
  const [all, setAll] = useState(false)
  const { text: beginning, missing } = cutTo(text, { lines, chars })
  return (
    <>
      <Markdown text={all ? text : beginning} />
      {missing > 0 && (
        <Button size="1" variant="soft" color="gray" highContrast onClick={() => setAll(!all)}>
          {all ? 'Show less' : `Show all (${bytes(text.length)})`}
        </Button>
      )}
    </>
  )
}
