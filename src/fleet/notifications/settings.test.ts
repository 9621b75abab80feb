import { expect, test } from 'vitest'
import { aFleet } from '../fleet.testkit.ts'
import { changeNotificationSettings, notificationSettings, type SettingsEdit } from './settings.ts'

function aBench() {
  const fleet = aFleet()
  return {
    set: (edit: SettingsEdit) =>
      changeNotificationSettings(fleet, { operation: 'set_notification_settings', actor: 'person' }, edit),
    secrets: async () => {
      const { ntfy, email } = (await notificationSettings(fleet)).value
      return [ntfy.token, email.password]
    },
  }
}

test('a token goes out encrypted, or to a server that may be private', async () => {
  const { set, secrets } = aBench()
  const url = 'http://ntfy.example.com/topic'
  await expect(set({ ntfy: { on: true, url, token: 'tk' } })).rejects.toThrow('a token is not sent unencrypted')
  await set({ ntfy: { on: true, url } })
  await expect(set({ ntfy: { token: 'tk' } })).rejects.toThrow('a token is not sent unencrypted')
  await set({ ntfy: { token: 'tk', allow_private: true } })
  await expect(set({ ntfy: { allow_private: false } })).rejects.toThrow('a token is not sent unencrypted')
  expect(await secrets()).toEqual(['tk', ''])
})

test('a token or password is for its server: another server does not get it', async () => {
  const { set, secrets } = aBench()
  const ntfy = { url: 'https://ntfy.example.com/topic', token: 'tk' }
  const email = { host: 'smtp.example.com', user: 'me', password: 'pw' }
  await set({ ntfy, email })
  await set({ ntfy: { url: 'https://NTFY.example.com/other' }, email: { host: 'SMTP.example.com', user: 'you' } })
  expect(await secrets()).toEqual(['tk', 'pw'])
  await set({ ntfy: { url: 'https://ntfy.example.com:8443/other' } })
  expect(await secrets()).toEqual(['', 'pw'])
  await set({ email: { host: 'smtp.elsewhere.example.com' } })
  expect(await secrets()).toEqual(['', ''])
  await set({ ntfy, email })
  expect(await secrets()).toEqual(['tk', 'pw'])
  // Nor by a detour.
  await set({ ntfy: { url: '' }, email: { host: '' } })
  await set({ ntfy: { url: ntfy.url }, email: { host: email.host } })
  expect(await secrets()).toEqual(['', ''])
})
