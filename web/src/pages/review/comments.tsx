import { Badge, Button, Flex, IconButton, Text, TextArea } from '@radix-ui/themes'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Output } from '../../api/client.ts'
import type { Place } from '../../kit/diff/rows.ts'
import { shown } from '../../kit/diff/shown.ts'
import { Markdown } from '../../kit/markdown.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import './comments.css'

export type Comment = Output<'list_comments'>['comments'][number]

/** More than anybody writes on one mission. */
const MOST = 500

export const useComments = (mission_id: string) => useAsk('list_comments', { mission_id, limit: MOST })

export const isUnsent = ({ sent_at, author }: Comment): boolean => sent_at === null && !author.startsWith('session:')

/** Unsaved text. A row that is scrolled away is removed, but its text must not be lost. */
const unsaved = new Map<string, string>()

interface WriterProps {
  /** The key for unsaved text. */
  name: string
  text?: string
  act: string
  label: string
  close(): void
  /** False: it was refused, and the text stays. */
  save(text: string): Promise<boolean>
}

export function Writer({ name, text = '', act, label, close, save }: WriterProps) {
  const [value, setValue] = useState(unsaved.get(name) ?? text)
  const [busy, setBusy] = useState(false)
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
        placeholder="What should be different here?"
        value={value}
        onChange={event => {
          setValue(event.target.value)
          unsaved.set(name, event.target.value)
        }}
        onKeyDown={event => {
          if (event.key === 'Escape') done()
          else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
        }}
      />
      <Flex gap="2" justify="end" align="center">
        <Text size="1" color="gray" className="comment-hint">
          Ctrl Enter saves it. The agent gets it when you request changes
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

/** The form for a new comment on a line. */
export function NewComment({ missionId, place, close }: { missionId: string; place: Place; close(): void }) {
  const { run } = useCommand('comment_mission')
  const { path, side, line } = place
  return (
    <Writer
      name={`${missionId} ${path} ${side} ${line}`}
      act="Add comment"
      label={`Comment on line ${line} of ${shown(path)}`}
      close={close}
      save={async body => (await run({ mission_id: missionId, path, side, line, body })) !== undefined}
    />
  )
}

/** A comment. It can be edited or deleted until the agent has got it. */
export function CommentCard({ comment, placed = false }: { comment: Comment; placed?: boolean }) {
  const { id, author, body, created_at, path, line, quote, mission_id, side } = comment
  const [editing, setEditing] = useState(unsaved.has(id))
  const update = useCommand('update_comment')
  const again = useCommand('comment_mission')
  const remove = useCommand('delete_comment')
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
    const undo = () => again.run({ mission_id, path, line, side, body })
    tell({ text: 'Comment deleted', action: { label: 'Undo', run: undo } })
  }
  return (
    <article className="comment" data-unsent={isUnsent(comment) || undefined}>
      <Flex gap="2" align="center" wrap="wrap">
        <Text size="1" weight="medium">
          {author.startsWith('session:') ? 'its agent' : plain(author)}
        </Text>
        <Text size="1" color="gray">
          <Time at={created_at} />
        </Text>
        {isUnsent(comment) ? (
          <Badge size="1" color="amber" highContrast>
            not sent yet
          </Badge>
        ) : (
          !author.startsWith('session:') && (
            <Badge size="1" color="gray" highContrast>
              sent to the agent
            </Badge>
          )
        )}
        {!placed && path && (
          <code className="comment-place">
            {shown(path)}
            {line ? `:${line}` : ''}
          </code>
        )}
        {isUnsent(comment) && (
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
      <Markdown text={body} />
    </article>
  )
}
