import { Button } from '@radix-ui/themes'
import { useMemo, useState } from 'react'
import './foreign.css'
import { cutTo, plain } from './plain.ts'
import { bytes } from './words.ts'

interface ForeignProps {
  text: string
  /** How much is shown before one asks for all of it. */
  lines?: number
  chars?: number
  /** Set in the letters of code. */
  code?: boolean
  tone?: 'plain' | 'bad' | 'quiet'
}

/** Text that someone else wrote, letter by letter. What is long is cut, with a way to see all of it. */
export function Foreign({ text, lines = 60, chars = 8000, code = false, tone = 'plain' }: ForeignProps) {
  const [all, setAll] = useState(false)
  const cut = useMemo(() => {
    const { text: shown, missing } = cutTo(text, all ? EVERYTHING : { lines, chars })
    return { shown: plain(shown), missing }
  }, [text, all, lines, chars])
  return (
    <div className="foreign" data-code={code || undefined} data-tone={tone}>
      <div className="foreign-text" dir="auto">
        {cut.shown}
      </div>
      {(cut.missing > 0 || all) && (
        <Button size="1" variant="soft" color="gray" highContrast onClick={() => setAll(!all)}>
          {all ? 'Show less' : `Show all (${bytes(text.length)})`}
        </Button>
      )}
    </div>
  )
}

const EVERYTHING = { lines: Number.POSITIVE_INFINITY, chars: Number.POSITIVE_INFINITY }
