import { Button } from '@radix-ui/themes'
import { useMemo, useState } from 'react'
import './ansi.css'
import { hasColours, piecesOf } from './ansi.ts'
import './foreign.css'
import { cutTo, plain } from './plain.ts'
import { complain } from './toasts.tsx'
import { bytes } from './words.ts'

interface ForeignProps {
  text: string
  /** How much is shown at first. */
  lines?: number
  chars?: number
  /** In a monospace font. */
  code?: boolean
  tone?: 'plain' | 'bad' | 'quiet'
  /** Loads the whole text, if this one is only its beginning. */
  whole?(): Promise<string>
}

/** Text that someone else wrote, shown literally. Long text is cut, with a button to show all of it. */
export function Foreign({ text, lines = 60, chars = 8000, code = false, tone = 'plain', whole }: ForeignProps) {
  const [all, setAll] = useState(false)
  const [read, setRead] = useState<string>()
  const cut = useMemo(() => {
    const { text: shown, missing } = cutTo(read ?? text, all ? EVERYTHING : { lines, chars })
    const coloured = code && hasColours(shown)
    return { shown: coloured ? <Coloured text={shown} /> : plain(shown), missing }
  }, [text, read, all, lines, chars, code])
  const toggle = async () => {
    if (!all && whole && read === undefined) {
      try {
        setRead(await whole())
      } catch (error) {
        return complain(error)
      }
    }
    setAll(!all)
  }
  return (
    <div className="foreign" data-code={code || undefined} data-tone={tone}>
      <div className="foreign-text" dir="auto">
        {cut.shown}
      </div>
      {(cut.missing > 0 || all || whole) && (
        <Button size="1" variant="soft" color="gray" highContrast onClick={toggle}>
          {all ? 'Show less' : whole && read === undefined ? 'Show all' : `Show all (${bytes((read ?? text).length)})`}
        </Button>
      )}
    </div>
  )
}

/** What a program printed, in its colours. */
const Coloured = ({ text }: { text: string }) =>
  piecesOf(text).map(({ text: piece, look }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text never change their order
    <span key={index} className={look || undefined}>
      {plain(piece)}
    </span>
  ))

const EVERYTHING = { lines: Number.POSITIVE_INFINITY, chars: Number.POSITIVE_INFINITY }
