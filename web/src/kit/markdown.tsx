import { lazy, Suspense } from 'react'
import { Foreign } from './foreign.tsx'
import './markdown.css'

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
