import { Badge, Button, Text } from '@radix-ui/themes'
import { useState } from 'react'
import type { Input, Output } from '../../api/client.ts'
import { ChoiceInput, LongTextInput } from '../../kit/fields.tsx'
import { Foreign } from '../../kit/foreign.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { May } from '../../kit/may.tsx'
import { plain } from '../../kit/plain.ts'
import { Dot } from '../../kit/status.tsx'
import { Time } from '../../kit/time.tsx'
import type { Tone } from '../../kit/words.ts'
import { useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import type { Member, Team } from './words.ts'

type Post = Output<'blackboard_read'>['posts'][number]

export const POST_TYPES: Record<Post['message_type'], string> = {
  status: 'Status',
  directive: 'Directive',
  request: 'Request',
  response: 'Response',
  checkpoint: 'Checkpoint',
}
const TONES: Record<Post['message_type'], Tone> = {
  status: 'gray',
  directive: 'iris',
  request: 'blue',
  response: 'green',
  checkpoint: 'gray',
}
export const PRIORITIES: Record<Post['priority'], string> = {
  low: 'Low',
  normal: 'Normal',
  high: 'High',
  critical: 'Critical',
}

interface PostCardProps {
  team: Team
  post: Post
  myself: Member | undefined
}

export function PostCard({ team, post, myself }: PostCardProps) {
  const { id, from, message_type, priority, target, payload, created_at, archived_at, read } = post
  const mark = useCommand('blackboard_mark_read')
  const archive = useCommand('blackboard_archive')
  const maySteer = useMay('mail.broadcast', team.project_id)
  const isMine = from.member_id === myself?.id
  return (
    <article className="line" aria-label={`Post of ${plain(from.handle)}`} data-quiet={!!archived_at || undefined}>
      <div className="line-head">
        {!read && (
          <span role="img" aria-label="Unread" title="Unread">
            <Dot tone="iris" />
          </span>
        )}
        <Text size="2" weight="medium" className="break">
          {plain(from.handle)}
        </Text>
        <Badge color={TONES[message_type]} highContrast>
          {POST_TYPES[message_type]}
        </Badge>
        {priority !== 'normal' && (
          <Badge color={priority === 'low' ? 'gray' : 'red'} highContrast>
            {PRIORITIES[priority]}
            {priority !== 'critical' && ' priority'}
          </Badge>
        )}
        {target && (
          <Text size="2" color="gray" className="break">
            for {plain(target.handle)}
          </Text>
        )}
        <Text size="1" color="gray">
          <Time at={created_at} />
          {archived_at && ' · archived'}
        </Text>
        <span className="line-acts">
          {!read && (
            <May use="blackboard_mark_read" project={team.project_id}>
              <Button
                size="1"
                variant="ghost"
                color="gray"
                highContrast
                loading={mark.busy}
                onClick={() => mark.run({ team_id: team.id, post_ids: [id] })}
              >
                Mark as read
              </Button>
            </May>
          )}
          {!archived_at && (isMine || maySteer) && (
            <May use="blackboard_archive" project={team.project_id}>
              <Button
                size="1"
                variant="ghost"
                color="gray"
                highContrast
                loading={archive.busy}
                onClick={() => archive.run({ team_id: team.id, post_ids: [id] })}
              >
                Archive
              </Button>
            </May>
          )}
        </span>
      </div>
      <div className="line-body">
        {typeof payload === 'string' ? (
          <Markdown text={payload} />
        ) : (
          <Foreign text={JSON.stringify(payload, null, 2)} code lines={20} />
        )}
      </div>
    </article>
  )
}

interface WritePostProps {
  team: Team
  on: Pick<Input<'blackboard_post'>, 'team_id' | 'swarm_id'>
  close(): void
}

const choices = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }))

export function WritePost({ team, on, close }: WritePostProps) {
  const [text, setText] = useState('')
  const [type, setType] = useState<string | null>('status')
  const [priority, setPriority] = useState<string | null>('normal')
  const [target, setTarget] = useState<string | null>(null)
  const { run, busy } = useCommand('blackboard_post', { done: close })
  return (
    <FormDialog
      title="Write on the blackboard"
      about="Everybody in the team can read it. It wakes nobody."
      act="Post"
      busy={busy}
      ready={!!text.trim()}
      close={close}
      submit={() =>
        run({
          ...on,
          payload: text,
          message_type: type as Post['message_type'],
          priority: priority as Post['priority'],
          ...(target && { target_handle: target }),
        })
      }
    >
      <LongTextInput label="Text" value={text} set={setText} rows={4} />
      <div className="dialog-pair">
        <ChoiceInput label="Type" value={type} set={setType} options={choices(POST_TYPES)} />
        <ChoiceInput label="Priority" value={priority} set={setPriority} options={choices(PRIORITIES)} />
      </div>
      <ChoiceInput
        label="Concerns"
        value={target}
        set={setTarget}
        options={team.members.map(({ id, handle }) => ({ value: id, label: plain(handle) }))}
        none="Everybody"
      />
    </FormDialog>
  )
}
