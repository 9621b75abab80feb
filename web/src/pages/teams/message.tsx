import { Badge, Button, Flex, Text } from '@radix-ui/themes'
import { useState } from 'react'
import { LongTextInput, SwitchInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { mailSubject } from '../../kit/mail-subject.ts'
import { Markdown } from '../../kit/markdown.tsx'
import { May } from '../../kit/may.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { exactTime, plural } from '../../kit/words.ts'
import { useCommand } from '../../live/data.ts'
import { Deliveries } from './deliveries.tsx'
import { waitsFor } from './threads.ts'
import { ASKS, type Mail, type Member, type Team } from './words.ts'

interface MessageProps {
  team: Team
  mail: Mail
  myself: Member | undefined
  /** Its subject is not the one of its thread. */
  titled: boolean
}

export function Message({ team, mail, myself, titled }: MessageProps) {
  const { from, to, subject, body, needs, priority, deadline, created_at } = mail
  return (
    <article className="message" aria-label={`Message from ${plain(from.handle)}`}>
      <Flex gap="2" align="center" wrap="wrap">
        <Text size="2" weight="medium">
          {plain(from.handle)}
        </Text>
        <Text size="2" color="gray" className="break">
          to {to.map(plain).join(', ')}
        </Text>
        {needs !== 'none' && (
          <Badge color="iris" highContrast>
            {ASKS[needs]}
          </Badge>
        )}
        {(priority === 'high' || priority === 'critical') && (
          <Badge color="red" highContrast>
            {priority === 'high' ? 'High priority' : 'Critical'}
          </Badge>
        )}
        <Text size="1" color="gray">
          <Time at={created_at} />
          {deadline && ` · until ${exactTime(deadline)}`}
        </Text>
      </Flex>
      {titled && (
        <Text as="div" size="2" weight="medium" className="break">
          {plain(mailSubject(subject))}
        </Text>
      )}
      <div className="message-body">
        <Markdown text={body} />
      </div>
      <Deliveries mail={mail} members={team.members} />
      <Acts team={team} mail={mail} myself={myself} />
    </article>
  )
}

/** What this person can do about a message. */
function Acts({ team, mail, myself }: Omit<MessageProps, 'titled'>) {
  const [asking, setAsking] = useState<'reply' | 'decline'>()
  const ack = useCommand('ack_mail')
  const release = useCommand('release_mail')
  const cancel = useCommand('cancel_mail', {
    done({ cancelled, kept }) {
      if (!kept.length) return
      const late = `It is too late for ${kept.map(({ to }) => plain(to)).join(', ')}`
      tell({ text: cancelled.length ? `Cancelled for ${plural(cancelled.length, 'member')}. ${late}.` : `${late}.` })
    },
  })
  const { id, from, needs, deliveries } = mail
  const isMine = from.member_id !== null && from.member_id === myself?.id
  const isWaiting = waitsFor(mail, myself?.id)
  const isHeld = deliveries.some(({ state, held }) => state === 'queued' && held !== null)
  const canCancel = isMine && deliveries.some(({ state }) => state === 'queued')
  const project = team.project_id
  return (
    <Flex gap="2" mt="2" wrap="wrap" className="message-acts">
      {isHeld && (
        <May use="release_mail" project={project}>
          <Button size="1" loading={release.busy} onClick={() => release.run({ mail_id: id })}>
            Release
          </Button>
        </May>
      )}
      <May use="reply_mail" project={project}>
        {from.member_id !== null && !isMine && (
          <Button
            size="1"
            {...lookOf(isWaiting && (needs === 'reply' || needs === 'decision'))}
            onClick={() => setAsking('reply')}
          >
            Reply
          </Button>
        )}
        {isWaiting && (
          <Button size="1" {...lookOf(needs === 'ack')} loading={ack.busy} onClick={() => ack.run({ mail_id: id })}>
            Acknowledge
          </Button>
        )}
        {isWaiting && needs !== 'none' && (
          <Button size="1" {...lookOf(false)} onClick={() => setAsking('decline')}>
            Decline…
          </Button>
        )}
        {canCancel && (
          <Button
            size="1"
            variant="soft"
            color="red"
            highContrast
            loading={cancel.busy}
            onClick={() => cancel.run({ mail_id: id })}
          >
            Cancel
          </Button>
        )}
      </May>
      {asking === 'reply' && <Reply mail={mail} close={() => setAsking(undefined)} />}
      {asking === 'decline' && <Decline mail={mail} close={() => setAsking(undefined)} />}
    </Flex>
  )
}

/** The most likely act stands out. */
const lookOf = (isMain: boolean) =>
  isMain ? ({ variant: 'solid' } as const) : ({ variant: 'soft', color: 'gray', highContrast: true } as const)

interface DialogProps {
  mail: Mail
  close(): void
}

function Reply({ mail: { id, from }, close }: DialogProps) {
  const [body, setBody] = useState('')
  const [wake, setWake] = useState(true)
  const { run, busy } = useCommand('reply_mail', { done: close })
  return (
    <FormDialog
      title={`Reply to ${from.handle}`}
      act="Send"
      busy={busy}
      ready={!!body.trim()}
      close={close}
      submit={() => run({ mail_id: id, body, wake })}
    >
      <LongTextInput label="Message" value={body} set={setBody} rows={5} />
      <SwitchInput label="Wake" hint="Otherwise it waits for the next turn." value={wake} set={setWake} />
    </FormDialog>
  )
}

function Decline({ mail: { id, from }, close }: DialogProps) {
  const [reason, setReason] = useState('')
  const { run, busy } = useCommand('decline_mail', { done: close })
  return (
    <FormDialog
      title={`Decline what ${from.handle} asks for`}
      act="Decline"
      busy={busy}
      ready={!!reason.trim()}
      close={close}
      submit={() => run({ mail_id: id, reason: reason.trim() })}
    >
      <LongTextInput label="Reason" value={reason} set={setReason} rows={3} />
    </FormDialog>
  )
}
