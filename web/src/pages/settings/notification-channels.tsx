import { Button, Callout, Card, Flex, Switch, Text } from '@radix-ui/themes'
import { CircleCheck, TriangleAlert } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import type { Channel as ChannelName } from '../../../../src/domain/records/notification.ts'
import type { Output } from '../../api/client.ts'
import type { Draft } from '../../kit/draft.ts'
import { ChoiceInput, NumberInput, SwitchInput, TextInput } from '../../kit/fields.tsx'
import { Section } from '../../kit/page.tsx'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import { type Notifying, switchNotifications, useNotifying } from '../../shell/notifications.ts'

export type Saved = Output<'get_notification_settings'>
/** Secrets are not shown, so a typed one is kept beside the saved values. */
export type Form = Saved & { token: string; password: string }

const BROWSER_WORDS: Record<Notifying, string> = {
  push: 'On. You are notified even while this page is closed.',
  window: 'On while a window of this page is open. This browser could not subscribe to push messages.',
  off: 'Off in this browser.',
  blocked: 'The browser blocks notifications from this page. Allow them in its settings for this address.',
  unable: 'This browser shows notifications only at an https address or on localhost.',
}

export function Browser({ saved: { push } }: { saved: Saved }) {
  const notifying = useNotifying()
  const id = useId()
  const others = push.browsers.filter(({ this_one }) => !this_one)
  return (
    <Channel title="Browser" channel="push" last={push.last} ready={push.browsers.length > 0}>
      <Flex gap="3" align="start">
        <Switch
          id={id}
          aria-describedby={`${id}-hint`}
          checked={notifying === 'push' || notifying === 'window'}
          disabled={notifying === 'unable'}
          onCheckedChange={() => switchNotifications()}
        />
        <Flex direction="column">
          <Text as="label" htmlFor={id} size="2" weight="medium">
            Notify me in this browser
          </Text>
          <Text size="1" color="gray" id={`${id}-hint`}>
            {BROWSER_WORDS[notifying]}
          </Text>
        </Flex>
      </Flex>
      {others.length > 0 && (
        <Text size="2" color="gray">
          Also on: {others.map(({ name }) => name).join(', ')}. Turn it off there, or sign that browser out.
        </Text>
      )}
      <Text size="1" color="gray">
        The push service of your browser sees only a random id, never a title or a question.
      </Text>
    </Channel>
  )
}

export function Ntfy({ form: { value, set, isChanged } }: { form: Draft<Form> }) {
  const { ntfy } = value
  const change = (edit: Partial<Form['ntfy']>) => set('ntfy')({ ...ntfy, ...edit })
  return (
    <Channel title="ntfy" channel="ntfy" last={ntfy.last} ready={ntfy.on && !isChanged}>
      <SwitchInput
        label="Send to an ntfy topic"
        hint="For the ntfy app on your phone, through ntfy.sh or your own server."
        value={ntfy.on}
        set={on => change({ on })}
      />
      {ntfy.on && (
        <div className="notification-fields">
          <TextInput
            label="Topic address"
            hint="Anyone who knows the topic can read it. Choose a name that nobody can guess."
            placeholder="https://ntfy.sh/my-secret-topic"
            value={ntfy.url}
            set={url => change({ url })}
          />
          <TextInput
            label="Access token"
            hint={
              ntfy.has_token ? 'A token is saved. Type another one to replace it.' : 'Only for topics that need one.'
            }
            type="password"
            value={value.token}
            set={set('token')}
          />
          {!value.limited && (
            <PrivateSwitch value={ntfy.allow_private} set={allow_private => change({ allow_private })} />
          )}
        </div>
      )}
    </Channel>
  )
}

const SECURITY = [
  { value: 'tls', label: 'TLS (port 465)' },
  { value: 'starttls', label: 'STARTTLS (port 587)' },
  { value: 'none', label: 'Not encrypted (port 25)' },
]
const PORTS = { tls: 465, starttls: 587, none: 25 }

export function Email({ form: { value, set, isChanged } }: { form: Draft<Form> }) {
  const { email } = value
  const change = (edit: Partial<Form['email']>) => set('email')({ ...email, ...edit })
  return (
    <Channel title="E-mail" channel="email" last={email.last} ready={email.on && !isChanged}>
      <SwitchInput
        label="Send e-mail"
        hint={
          value.limited ? 'Through the mail server of this fleet.' : 'Through the mail server of your provider (SMTP).'
        }
        value={email.on}
        set={on => change({ on })}
      />
      {email.on && value.limited && (
        <div className="notification-fields">
          <TextInput
            label="To"
            hint={value.mail_server ? undefined : 'This fleet has no mail server yet. Ask an owner to set one up.'}
            value={email.to}
            set={to => change({ to })}
            placeholder="you@example.com"
          />
        </div>
      )}
      {email.on && !value.limited && (
        <div className="notification-fields">
          <TextInput label="To" value={email.to} set={to => change({ to })} placeholder="you@example.com" />
          <TextInput label="From" value={email.from} set={from => change({ from })} placeholder="fleet@example.com" />
          <TextInput
            label="Mail server"
            value={email.host}
            set={host => change({ host })}
            placeholder="smtp.example.com"
          />
          <ChoiceInput
            label="Encryption"
            value={email.security}
            set={security =>
              change({
                security: security as Form['email']['security'],
                port: PORTS[security as Form['email']['security']],
              })
            }
            options={SECURITY}
          />
          <NumberInput
            label="Port"
            value={email.port}
            set={port => change({ port: port ?? 465 })}
            min={1}
            max={65_535}
          />
          <TextInput label="User name" value={email.user} set={user => change({ user })} />
          <TextInput
            label="Password"
            hint={email.has_password ? 'A password is saved. Type another one to replace it.' : undefined}
            type="password"
            value={value.password}
            set={set('password')}
          />
          <PrivateSwitch value={email.allow_private} set={allow_private => change({ allow_private })} />
        </div>
      )}
    </Channel>
  )
}

const PrivateSwitch = (props: { value: boolean; set(value: boolean): void }) => (
  <SwitchInput
    {...props}
    label="Allow a private address"
    hint="Needed for a server on this machine or in your own network."
  />
)

interface ChannelProps {
  title: string
  channel: ChannelName
  last: Saved['push']['last']
  /** Whether a test can be sent with what is saved. */
  ready: boolean
  children: ReactNode
}

function Channel({ title, channel, last, ready, children }: ChannelProps) {
  const { run, busy } = useCommand('test_notifications', { affects: ['get_notification_settings'] })
  const test = async () => {
    const answer = await run({ channel })
    if (!answer) return
    const failed = answer.outcomes.find(({ ok }) => !ok)
    if (failed) tell({ text: `The test to ${failed.to} failed`, advice: failed.said, tone: 'bad' })
    else tell({ text: `Sent a test to ${answer.outcomes.map(({ to }) => to).join(', ')}` })
  }
  return (
    <Section
      title={title}
      actions={
        <Button
          type="button"
          size="1"
          variant="soft"
          color="gray"
          highContrast
          disabled={!ready}
          loading={busy}
          onClick={test}
        >
          Send a test
          <span className="visually-hidden"> ({title})</span>
        </Button>
      }
    >
      <Card>
        <Flex direction="column" gap="4">
          {children}
          <div role="status" className="notification-outcome">
            {last && last.status !== 'waiting' && last.outcome && (
              <Callout.Root
                size="1"
                highContrast
                color={last.status === 'failed' ? 'red' : last.status === 'sent' ? 'green' : 'gray'}
              >
                <Callout.Icon>
                  {last.status === 'failed' ? <TriangleAlert size={14} /> : <CircleCheck size={14} />}
                </Callout.Icon>
                <Callout.Text>
                  Last message, <Time at={last.at} />: {last.outcome}
                </Callout.Text>
              </Callout.Root>
            )}
          </div>
        </Flex>
      </Card>
    </Section>
  )
}
