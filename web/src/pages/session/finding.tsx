import { Button, Flex, IconButton, Text, TextField } from '@radix-ui/themes'
import { ChevronDown, ChevronUp, Search, X } from 'lucide-react'
import { type FormEvent, type RefObject, useState } from 'react'
import type { Output } from '../../api/client.ts'
import { ask } from '../../api/client.ts'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { complain } from '../../kit/toasts.tsx'
import { plural } from '../../kit/words.ts'

export type Match = Output<'search_transcript'>['matches'][number]
const FOUND = 100

interface FindingProps {
  sessionId: string
  input: RefObject<HTMLInputElement | null>
  raw: boolean
  text: string
  setText(text: string): void
  go(match: Match): void
}

interface Found {
  text: string
  matches: Match[]
  /** The part before this position has not been searched yet. */
  start: string
  more: boolean
}

/** Searches the transcript, newest first, one part at a time. */
export function Finding({ sessionId, input, raw, text, setText, go }: FindingProps) {
  const [found, setFound] = useState<Found>()
  const [busy, setBusy] = useState(false)
  const [at, setAt] = useState<string>()
  const look = async (further?: Found) => {
    const wanted = text.trim()
    if (!wanted) return setFound(undefined)
    setBusy(true)
    try {
      const where = further ? { before: further.start } : { last: true }
      const page = await ask('search_transcript', { session_id: sessionId, text: wanted, raw, limit: FOUND, ...where })
      const matches = [...(further?.matches ?? []), ...page.matches.toReversed()]
      setFound({ text: wanted, matches, start: page.start, more: page.more })
      if (!further && matches[0]) show(matches[0])
    } catch (error) {
      complain(error)
    } finally {
      setBusy(false)
    }
  }
  const show = (match: Match) => {
    setAt(match.event_id)
    go(match)
  }
  const submitted = (event: FormEvent) => {
    event.preventDefault()
    if (found && found.text === text.trim()) step(1)
    else look()
  }
  const step = (by: number) => {
    if (!found?.matches.length) return
    const index = found.matches.findIndex(({ event_id }) => event_id === at)
    const next = found.matches[(index + by + found.matches.length) % found.matches.length]
    if (next) show(next)
  }
  const close = () => {
    setFound(undefined)
    setText('')
  }
  return (
    <div className="finding">
      <form onSubmit={submitted}>
        <TextField.Root
          ref={input}
          size="2"
          type="search"
          aria-label="Search this session"
          placeholder="Search…"
          value={text}
          onChange={event => setText(event.target.value)}
          onKeyDown={event => event.key === 'Escape' && close()}
        >
          <TextField.Slot>
            <Search size={14} aria-hidden />
          </TextField.Slot>
        </TextField.Root>
      </form>
      {found && (
        <section className="found" aria-label="Search results">
          <Flex align="center" gap="2" px="2">
            <Text size="1" color="gray" role="status">
              {found.matches.length ? plural(found.matches.length, 'match', 'matches') : 'Not found'}
              {found.more ? ' so far' : ''}
            </Text>
            <Flex gap="3" ml="auto" align="center">
              <IconButton size="1" variant="ghost" color="gray" aria-label="Newer match" onClick={() => step(-1)}>
                <ChevronDown size={14} />
              </IconButton>
              <IconButton size="1" variant="ghost" color="gray" aria-label="Older match" onClick={() => step(1)}>
                <ChevronUp size={14} />
              </IconButton>
              <IconButton size="1" variant="ghost" color="gray" aria-label="Close the search" onClick={close}>
                <X size={14} />
              </IconButton>
            </Flex>
          </Flex>
          <ul>
            {found.matches.slice(0, 300).map(match => (
              <li key={match.event_id}>
                <button
                  type="button"
                  className="found-match"
                  aria-current={match.event_id === at || undefined}
                  onClick={() => show(match)}
                >
                  <Snippet match={match} />
                  <small>
                    {match.type.replaceAll('_', ' ')} {match.at && <Time at={match.at} />}
                  </small>
                </button>
              </li>
            ))}
          </ul>
          {found.more && (
            <Button size="1" variant="soft" m="2" loading={busy} onClick={() => look(found)}>
              Search earlier
            </Button>
          )}
        </section>
      )}
    </div>
  )
}

function Snippet({ match: { snippet, marked } }: { match: Match }) {
  if (!marked) return <span>{plain(snippet)}</span>
  const { from, length } = marked
  return (
    <span>
      {plain(snippet.slice(0, from))}
      <mark>{plain(snippet.slice(from, from + length))}</mark>
      {plain(snippet.slice(from + length))}
    </span>
  )
}
