import { Card, Checkbox, Flex, Table, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import type { Channel, Need } from '../../../../src/domain/records/notification.ts'
import { type Draft, useDraft } from '../../kit/draft.ts'
import { SwitchInput, TextInput } from '../../kit/fields.tsx'
import { Answer, Page, Section } from '../../kit/page.tsx'
import { SaveBar } from '../../kit/save-bar.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { Browser, Email, type Form, Ntfy, type Saved } from './notification-channels.tsx'
import './notifications.css'

const NEED_WORDS: Record<Need, { title: string; about: string }> = {
  input: { title: 'Needs input', about: 'An agent asks a question or for permission' },
  review: { title: 'Ready for review', about: 'Work or a plan waits for your decision' },
  blocked: { title: 'Blocked', about: 'A mission cannot continue without you' },
  failed: { title: 'Failed', about: 'A mission failed and is not retried' },
  budget: { title: 'Budget or limit reached', about: 'A mission stopped at a limit' },
}
const CHANNEL_WORDS: Record<Channel, string> = { push: 'Browser', ntfy: 'ntfy', email: 'E-mail' }
const CHANNELS = Object.keys(CHANNEL_WORDS) as Channel[]

export default function NotificationsPage() {
  const settings = useAsk('get_notification_settings', {})
  const maySet = useMay('set_settings')
  return (
    <Page
      title="Notifications"
      about={
        <>
          How to notify you that a mission needs you while this page is closed.{' '}
          {maySet && <Link href="/settings">All settings</Link>}
        </>
      }
    >
      <Answer of={settings}>{saved => <NotificationsForm saved={saved} />}</Answer>
    </Page>
  )
}

function NotificationsForm({ saved }: { saved: Saved }) {
  const form = useDraft<Form>({ ...saved, token: '', password: '' })
  const { run, busy } = useCommand('set_notification_settings', { affects: ['get_notification_settings'] })
  const { value, isChanged, set, reset } = form
  const save = async () => {
    const { ntfy, email, push } = value
    const mailServer = {
      ...{ host: email.host.trim(), port: email.port, security: email.security, user: email.user },
      ...{ from: email.from.trim(), allow_private: email.allow_private },
      ...(value.password && { password: value.password }),
    }
    const answer = await run({
      quiet: value.quiet,
      page_address: value.page_address,
      details: value.details,
      push: { needs: push.needs },
      ntfy: {
        ...{ on: ntfy.on, url: ntfy.url.trim(), needs: ntfy.needs },
        ...(!saved.limited && { allow_private: ntfy.allow_private }),
        ...(value.token && { token: value.token }),
      },
      email: { on: email.on, to: email.to.trim(), needs: email.needs, ...(!saved.limited && mailServer) },
    })
    if (!answer) return
    reset()
    tell({ text: 'Saved' })
  }
  return (
    <form
      className="notifications"
      onSubmit={event => {
        event.preventDefault()
        save()
      }}
    >
      <Browser saved={saved} />
      <Ntfy form={form} />
      <Email form={form} />
      <Section title="When to notify you">
        <Needs value={value} set={set} />
      </Section>
      <Section title="Quiet hours">
        <Card>
          <Quiet value={value.quiet} set={set('quiet')} />
        </Card>
      </Section>
      <Section title="Messages">
        <Card>
          <Flex direction="column" gap="4">
            <TextInput
              label="Address of this page"
              hint="Messages link to it. Leave it empty to send no links."
              value={value.page_address}
              set={set('page_address')}
              placeholder={location.origin}
            />
            <SwitchInput
              label="Include the agent’s words"
              hint="ntfy and e-mail messages then contain the question or the reason, not only the title of the mission."
              value={value.details}
              set={set('details')}
            />
          </Flex>
        </Card>
      </Section>
      {isChanged && <SaveBar busy={busy} reset={reset} />}
    </form>
  )
}

function Needs({ value, set }: Pick<Draft<Form>, 'value' | 'set'>) {
  const toggle = (channel: Channel, need: Need, on: boolean) => {
    const needs = on ? [...value[channel].needs, need] : value[channel].needs.filter(each => each !== need)
    if (channel === 'push') set('push')({ ...value.push, needs })
    else if (channel === 'ntfy') set('ntfy')({ ...value.ntfy, needs })
    else set('email')({ ...value.email, needs })
  }
  return (
    <Table.Root variant="surface" className="notification-needs">
      <Table.Header>
        <Table.Row>
          <Table.ColumnHeaderCell>
            <span className="visually-hidden">Kind</span>
          </Table.ColumnHeaderCell>
          {CHANNELS.map(channel => (
            <Table.ColumnHeaderCell key={channel} align="center">
              {CHANNEL_WORDS[channel]}
            </Table.ColumnHeaderCell>
          ))}
        </Table.Row>
      </Table.Header>
      <Table.Body>
        {value.needs.map(need => (
          <Table.Row key={need} align="center">
            <Table.RowHeaderCell>
              <Text as="div" weight="medium">
                {NEED_WORDS[need].title}
              </Text>
              <Text as="div" size="1" color="gray">
                {NEED_WORDS[need].about}
              </Text>
            </Table.RowHeaderCell>
            {CHANNELS.map(channel => (
              <Table.Cell key={channel} align="center">
                <Checkbox
                  aria-label={`${NEED_WORDS[need].title}: ${CHANNEL_WORDS[channel]}`}
                  checked={value[channel].needs.includes(need)}
                  onCheckedChange={on => toggle(channel, need, on === true)}
                />
              </Table.Cell>
            ))}
          </Table.Row>
        ))}
      </Table.Body>
    </Table.Root>
  )
}

const NIGHT = { from: '22:00', to: '07:00' }

function Quiet({ value, set }: { value: Saved['quiet']; set(value: Saved['quiet']): void }) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <Flex direction="column" gap="4">
      <SwitchInput
        label="Hold messages during quiet hours"
        hint="They are sent afterwards, if you are still needed."
        value={value !== null}
        set={on => set(on ? { ...NIGHT, time_zone: here } : null)}
      />
      {value && (
        <div className="notification-fields">
          <TextInput label="From" type="time" value={value.from} set={from => set({ ...value, from })} />
          <TextInput label="To" type="time" value={value.to} set={to => set({ ...value, to })} />
          <TextInput
            label="Time zone"
            value={value.time_zone}
            set={time_zone => set({ ...value, time_zone })}
            suggestions={Intl.supportedValuesOf('timeZone')}
          />
        </div>
      )}
    </Flex>
  )
}
