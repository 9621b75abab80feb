import { Button } from '@radix-ui/themes'
import { PenLine } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { May } from '../../kit/may.tsx'
import { useNarrow } from '../../kit/narrow.ts'
import { Section } from '../../kit/page.tsx'
import { Composer } from './composer.tsx'
import type { PartProps } from './part.ts'
import { Threads } from './threads-list.tsx'

/** The mail of a team: the form for a new message, and what was written. */
export function Letters({ team, myself, write, wanted, met }: PartProps) {
  const composer = useRef<HTMLElement>(null)
  const [to, setTo] = useState('')
  // The form would fill a phone, so it opens there on request.
  const isNarrow = useNarrow()
  const [writing, setWriting] = useState(false)
  const isOpen = !isNarrow || writing
  useEffect(() => {
    if (!wanted) return
    if (wanted.handle) setTo(`@${wanted.handle} `)
    if (!isOpen) return setWriting(true)
    composer.current?.scrollIntoView({ block: 'nearest' })
    composer.current?.querySelector<HTMLElement>(wanted.handle ? 'textarea' : 'input')?.focus()
    met()
  }, [wanted, isOpen, met])
  return (
    <Section title="Mail">
      <May use="send_mail" project={team.project_id}>
        <section ref={composer} aria-label="Write a message">
          {isOpen ? (
            <Composer team={team} myself={myself} to={to} setTo={setTo} />
          ) : (
            <Button variant="soft" mb="4" onClick={() => write()}>
              <PenLine size={14} /> Write a message
            </Button>
          )}
        </section>
      </May>
      <Threads team={team} myself={myself} />
    </Section>
  )
}
