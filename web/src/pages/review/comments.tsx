import { Badge, Button, Flex, IconButton, Text, TextArea } from '@radix-ui/themes'
import { Check, FilePen, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { rangeOf, suggestionIn, withoutSuggestion } from '../../../../src/domain/rules/suggestions.ts'
import type { Output } from '../../api/client.ts'
import { InlineDiff } from '../../kit/diff/inline.tsx'
import type { Place } from '../../kit/diff/rows.ts'
import { shown } from '../../kit/diff/shown.ts'
import { Markdown } from '../../kit/markdown.tsx'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { capital } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay, useMayDo } from '../../live/me.ts'
import { useWho } from '../../live/names.ts'
import './comments.css'

export type Comment = Output<'list_comments'>['comments'][number]

/** More than anybody writes on one mission. */
const MOST = 500

export const useComments = (mission_id: string) => useAsk('list_comments', { mission_id, limit: MOST })

const isOfAgent = ({ author }: Comment): boolean => author.startsWith('session:')
export const isUnsent = (comment: Comment): boolean =>
  comment.sent_at === null && comment.applied === null && !isOfAgent(comment)

/** Unsaved text. A row that is scrolled away is removed, but its text must not be lost. */
const unsaved = new Map<string, string>()

interface WriterProps {
  /** The key for unsaved text. */
  name: string
  text?: string
  act: string
  label: string
  /** The lines it is about, to suggest others in their place. */
  lines?: readonly string[]
  close(): void
  /** False: it was refused, and the text stays. */
  save(text: string): Promise<boolean>
}

/** A block as long as needed to hold these lines. */
function suggesting(lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.map(line => /^\s*(`*)/.exec(line)![1]!.length))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}suggestion`, ...lines, fence].join('\n')
}

export function Writer({ name, text = '', act, label, lines, close, save }: WriterProps) {
  const [value, setValue] = useState(unsaved.get(name) ?? text)
  const [busy, setBusy] = useState(false)
  const change = (next: string) => {
    setValue(next)
    unsaved.set(name, next)
  }
  const done = () => {
    unsaved.delete(name)
    close()
  }
  const submit = async () => {
    if (!value.trim() || busy) return
    setBusy(true)
    const saved = await save(value.trim())
    setBusy(false)
    if (saved) done()
  }
  return (
    <form
      className="comment comment-writer"
      onSubmit={event => {
        event.preventDefault()
        submit()
      }}
    >
      <TextArea
        autoFocus
        aria-label={label}
        placeholder="Add a comment"
        rows={value.includes('\n') ? 8 : 3}
        value={value}
        onChange={event => change(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Escape') done()
          else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
        }}
      />
      <Flex gap="2" align="center" wrap="wrap">
        {lines && !suggestionIn(value) && (
          <Button
            type="button"
            size="1"
            variant="soft"
            color="gray"
            highContrast
            onClick={() => change(`${value.trim() ? `${value.trimEnd()}\n\n` : ''}${suggesting(lines)}`)}
          >
            <FilePen size={13} aria-hidden /> Suggest a change
          </Button>
        )}
        <Text size="1" color="gray" className="comment-hint">
          The agent gets it when you request changes.
        </Text>
        <Button type="button" size="1" variant="soft" color="gray" highContrast onClick={done}>
          Cancel
        </Button>
        <Button type="submit" size="1" loading={busy} disabled={!value.trim()}>
          {act}
        </Button>
      </Flex>
    </form>
  )
}

const linesInWords = (line: number, start?: number | null): string =>
  start && start < line ? `lines ${start} to ${line}` : `line ${line}`

interface NewCommentProps {
  missionId: string
  place: Place
  lines: readonly string[] | undefined
  close(): void
}

/** The form for a new comment on lines. */
export function NewComment({ missionId, place, lines, close }: NewCommentProps) {
  const { run } = useCommand('comment_mission')
  const { path, side, line, start } = place
  return (
    <Writer
      name={`${missionId} ${path} ${side} ${line}`}
      act="Add comment"
      label={`Comment on ${linesInWords(line, start)} of ${shown(path)}`}
      lines={lines}
      close={close}
      save={async body =>
        (await run({ mission_id: missionId, path, side, line, start_line: start ?? null, body })) !== undefined
      }
    />
  )
}

interface CommentCardProps {
  comment: Comment
  /** It is shown below its lines. */
  placed?: boolean
  /** The commit under review, while it can still be changed. */
  candidate?: string
}

/** A comment. It can be edited or deleted until the agent has got it. */
export function CommentCard({ comment, placed = false, candidate }: CommentCardProps) {
  const { id, body, created_at, path, line, start_line, quote, mission_id, side } = comment
  const [editing, setEditing] = useState(unsaved.has(id))
  const update = useCommand('update_comment')
  const again = useCommand('comment_mission')
  const remove = useCommand('delete_comment')
  const [may, who] = [useMayDo(), useWho()]
  if (editing)
    return (
      <Writer
        name={id}
        text={body}
        act="Save"
        label="Edit the comment"
        close={() => setEditing(false)}
        save={async text => (await update.run({ comment_id: id, body: text })) !== undefined}
      />
    )
  const takeBack = async () => {
    if (!(await remove.run({ comment_id: id }))) return
    const undo = () => again.run({ mission_id, path, line, start_line, side, body })
    tell({ text: 'Comment deleted', action: { label: 'Undo', run: undo } })
  }
  return (
    <article className="comment" data-unsent={isUnsent(comment) || undefined}>
      <Flex gap="2" align="center" wrap="wrap">
        <Text size="1" weight="medium">
          {isOfAgent(comment) ? 'Agent' : capital(who(comment.author))}
        </Text>
        <Text size="1" color="gray">
          {placed && line && start_line && start_line < line ? `${linesInWords(line, start_line)} · ` : ''}
          <Time at={created_at} />
        </Text>
        <Standing comment={comment} />
        {!placed && path && (
          <code className="comment-place">
            {shown(path)}
            {line ? `:${start_line ? `${start_line}-` : ''}${line}` : ''}
          </code>
        )}
        {isUnsent(comment) && may('update_comment', comment.project_id) && (
          <Flex gap="3" ml="auto">
            <IconButton
              size="1"
              variant="ghost"
              color="gray"
              aria-label="Edit the comment"
              onClick={() => setEditing(true)}
            >
              <Pencil size={14} />
            </IconButton>
            <IconButton size="1" variant="ghost" color="gray" aria-label="Delete the comment" onClick={takeBack}>
              <Trash2 size={14} />
            </IconButton>
          </Flex>
        )}
      </Flex>
      {!placed && quote && <code className="comment-quote">{shown(quote)}</code>}
      <Said comment={comment} candidate={candidate} />
    </article>
  )
}

/** Whether the agent has it. */
function Standing({ comment }: { comment: Comment }) {
  if (comment.applied)
    return (
      <Badge size="1" color="green" highContrast>
        <Check size={11} aria-hidden /> Applied
      </Badge>
    )
  if (isOfAgent(comment)) return null
  return isUnsent(comment) ? (
    <Badge size="1" color="amber" highContrast>
      Pending
    </Badge>
  ) : (
    <Badge size="1" color="gray" highContrast>
      Sent
    </Badge>
  )
}

/** Its text, with a suggestion as the change that it would make. */
function Said({ comment, candidate }: { comment: Comment; candidate: string | undefined }) {
  const { id, body, quote, applied } = comment
  const apply = useCommand('apply_suggestion')
  const mayApply = useMay('apply_suggestion', comment.project_id)
  const range = rangeOf(comment)
  const lines = range && suggestionIn(body)
  if (!lines) return <Markdown text={body} />
  const rest = withoutSuggestion(body)
  const canApply = mayApply && candidate !== undefined && comment.candidate === candidate && !applied
  const run = async () => {
    if (!(await apply.run({ comment_id: id, expected: candidate! }))) return
    tell({ text: 'Suggestion applied. Review the new version before you land it.' })
  }
  return (
    <>
      {rest && <Markdown text={rest} />}
      <section className="suggestion" aria-label="Suggested change">
        <InlineDiff
          named={false}
          whole
          edit={{
            path: range.path,
            old_text: quote && `${quote}\n`,
            new_text: lines.map(line => `${line}\n`).join(''),
            diff: null,
          }}
        />
        {canApply && (
          <Button size="1" variant="soft" loading={apply.busy} onClick={run}>
            Apply suggestion
          </Button>
        )}
      </section>
    </>
  )
}
