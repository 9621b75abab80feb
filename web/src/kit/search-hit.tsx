import type { Output } from '../api/client.ts'
import { plain } from './plain.ts'
import './search-hit.css'

export type Hit = Output<'search'>['hits'][number]

const PARTS: Record<string, string> = {
  title: 'Title',
  prompt: 'Prompt',
  comment: 'Comment',
  report: 'Report',
  text: 'Agent',
  tool_call: 'Tool call',
  tool_result: 'Tool result',
  said: 'Message to the agent',
  question: 'Question',
  permission: 'Permission request',
  error: 'Error',
  warning: 'Warning',
  rate_limit: 'Rate limit',
  raw: 'Output',
}

/** Where a hit is, in words. */
export const partOf = ({ part }: Hit): string => PARTS[part] ?? 'Transcript'

/** The place of a hit. The page there marks the words (`shell/marking.ts`). */
export function placeOf({ kind, mission, session_id, place }: Hit, words: string): string {
  const mark = `mark=${encodeURIComponent(words)}`
  if (kind === 'transcript') return `/sessions/${session_id}?at=${encodeURIComponent(place)}&${mark}`
  if (kind === 'report') return `/reports?report=${place}&${mark}`
  return `/missions/${mission.id}?${kind === 'comment' ? 'tab=notes&' : ''}${mark}`
}

/** The text around the words that were found, which are marked. */
export function HitText({ hit: { snippet, marks } }: { hit: Hit }) {
  let end = 0
  return (
    <span className="hit-text">
      {marks.map(({ from, length }) => {
        const before = snippet.slice(end, from)
        end = from + length
        return (
          <span key={from}>
            {plain(before)}
            <mark>{plain(snippet.slice(from, end))}</mark>
          </span>
        )
      })}
      {plain(snippet.slice(marks.length ? marks.at(-1)!.from + marks.at(-1)!.length : 0))}
    </span>
  )
}
