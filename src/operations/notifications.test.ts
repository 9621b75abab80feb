import { expect, test } from 'vitest'
import { Notification } from '../domain/records/notification.ts'
import { NOW } from '../domain/samples.testkit.ts'
import { aFleet } from '../fleet/fleet.testkit.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { addPrincipal } from '../fleet/people/principals.ts'
import { keep } from '../fleet/records.testkit.ts'
import { askOf } from './ask.ts'
import type { Caller } from './operation.ts'
import { aPrincipal } from './two-projects.testkit.ts'

const OWNER: Caller = { kind: 'owner' }
const LEAD = [{ role: 'team-lead' as const, project_id: 'p1' }]
const signal = new AbortController().signal
const askAs = (fleet: Fleet, caller: Caller) => askOf(fleet, { caller, signal })

async function aTeam() {
  const fleet = aFleet({ now: () => NOW })
  const ask = { operation: 'test', actor: 'person' }
  const enter = async (name: string) => {
    const { id } = await addPrincipal(fleet, ask, { kind: 'person', name, grants: [] })
    return aPrincipal(LEAD, { id, name })
  }
  return { fleet, ada: await enter('Ada'), bob: await enter('Bob') }
}

test('each person has settings of their own, and sees nobody else’s', async () => {
  const { fleet, ada, bob } = await aTeam()
  const ntfy = { on: true, url: 'https://ntfy.example.com/adas-secret', token: 'tk_secret' }
  const set = await askAs(fleet, ada)<{ ntfy: object }>('set_notification_settings', { ntfy })
  expect(set).toMatchObject({ limited: true, ntfy: { on: true, has_token: true } })
  for (const caller of [bob, OWNER]) {
    const seen = await askAs(fleet, caller)('get_notification_settings', {})
    expect(seen).toMatchObject({ limited: caller === bob, ntfy: { on: false, url: '' } })
  }
  const service = aPrincipal(LEAD, { kind: 'service' })
  await expect(askAs(fleet, service)('get_notification_settings', {})).rejects.toThrow('Only a person')
})

test('a mail server and private addresses are for those who change settings; others use that of the fleet', async () => {
  const { fleet, ada } = await aTeam()
  const asAda = askAs(fleet, ada)
  for (const edit of [
    { email: { host: '127.0.0.1' } },
    { email: { allow_private: true } },
    { ntfy: { allow_private: true } },
    { push: { allow_private: true } },
  ])
    await expect(asAda('set_notification_settings', edit)).rejects.toThrow('settings.write')
  const mail = { on: true, to: 'ada@example.com' }
  await expect(asAda('set_notification_settings', { email: mail })).rejects.toThrow('email')
  const server = { host: 'smtp.example.com', from: 'fleet@example.com', user: 'u', password: 'hidden' }
  await askAs(fleet, OWNER)('set_notification_settings', { email: server })
  const set = await asAda<object>('set_notification_settings', { email: mail })
  expect(set).toMatchObject({
    mail_server: true,
    email: { on: true, to: 'ada@example.com', host: '', has_password: false },
  })
  expect(JSON.stringify(set)).not.toContain('smtp.example.com')
})

test('a token with fewer roles than its person does not redirect what the person is told', async () => {
  const { fleet, ada } = await aTeam()
  const token = { ...ada, limit: [{ role: 'monitor' as const, project_id: 'p1' }], token: 't' }
  const ntfy = { on: true, url: 'https://ntfy.example.com/topic' }
  await expect(askAs(fleet, token)('set_notification_settings', { ntfy })).rejects.toThrow('fewer roles')
  await expect(askAs(fleet, token)('test_notifications', { channel: 'ntfy' })).rejects.toThrow('fewer roles')
})

test('the words of a notification are for whom it is', async () => {
  const { fleet, ada, bob } = await aTeam()
  const notification = Notification.parse({
    ...{ id: 'n1', principal_id: ada.id, channel: 'push', device_id: 'd', event: '', need: 'input' },
    ...{ title: 'Needs input', about: 'x', detail: '', path: '/', status: 'sent', due_at: NOW },
    ...{ created_at: NOW, updated_at: NOW },
  })
  await keep(fleet, 'notifications', notification)
  const input = { notification_id: 'n1' }
  expect(await askAs(fleet, ada)('get_notification', input)).toMatchObject({ title: 'Needs input' })
  for (const caller of [bob, OWNER])
    await expect(askAs(fleet, caller)('get_notification', input)).rejects.toThrow('There is no notification')
})
