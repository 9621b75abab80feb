import { lazy, Suspense } from 'react'
import { Foreign } from './foreign.tsx'
import './markdown.css'

const Rendered = lazy(() => import('./markdown-rendered.tsx'))
/** Longer than anybody writes by hand: the parser would hold the page up. */
const MAX_CHARS = 60_000

/** What agents and people write, as they meant it to look. Never HTML: tags are shown as the text they are. */
export function Markdown({ text }: { text: string }) {
  const letters = <Foreign text={text} />
  if (text.length > MAX_CHARS) return letters
  return (
    <Suspense fallback={letters}>
      <Rendered text={text} />
    </Suspense>
  )
}
