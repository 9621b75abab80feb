import { Button } from '@radix-ui/themes'
import { useMemo, useState } from 'react'
import { cutTo, plain } from './plain.ts'
import { type DiffLine, diffLines, type Edit } from './tool-changes.ts'
import { plural } from './words.ts'

const SHOWN = 40
const LINE_CHARS = 2000
const SIGNS: Record<DiffLine['side'], string> = { old: '−', new: '+', both: '' }
const WORDS: Record<DiffLine['side'], string> = { old: 'Removed', new: 'Added', both: 'Unchanged' }

/** A change to a few lines. */
export function DiffLines({ before, after }: Edit) {
  const [all, setAll] = useState(false)
  const lines = useMemo(() => diffLines({ before, after }), [before, after])
  const shown = all ? lines : lines.slice(0, SHOWN)
  return (
    <div>
      <div className="diff-lines">
        {shown.map(({ side, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing else to be told apart by
          <div key={index} className="diff-line" data-side={side}>
            <span role="img" aria-label={WORDS[side]}>
              {SIGNS[side]}
            </span>
            <span>{all ? plain(text) : shortened(text)}</span>
          </div>
        ))}
      </div>
      {(lines.length > SHOWN || lines.some(({ text }) => text.length > LINE_CHARS)) && (
        <Button mt="1" size="1" variant="soft" color="gray" highContrast onClick={() => setAll(!all)}>
          {all ? 'Show less' : `Show all (${plural(lines.length, 'line')})`}
        </Button>
      )}
    </div>
  )
}

function shortened(text: string): string {
  const cut = cutTo(text, { lines: 1, chars: LINE_CHARS })
  return plain(cut.text) + (cut.missing ? '…' : '')
}
