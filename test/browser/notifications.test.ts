import type { BrowserContext, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aReceiver, aSubscriber, TRUSTING } from '../kit/receivers.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

const AWAY = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|503/

/** Delivers push messages as the push service of the browser would, and reads what the service worker shows. */
async function aPushService(context: BrowserContext, page: Page, origin: string) {
  const session = await context.newCDPSession(page)
  let registrationId: string | undefined
  session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    registrationId = registrations.find(({ isDeleted }) => !isDeleted)?.registrationId ?? registrationId
  })
  await session.send('ServiceWorker.enable')
  await eventually('the service worker', () => registrationId)
  const [worker] = context.serviceWorkers()
  return {
    deliver: (data: string) =>
      session.send('ServiceWorker.deliverPushMessage', { origin, registrationId: registrationId!, data }),
    shown: () =>
      worker!.evaluate<{ title: string; body: string; tag: string }[]>(
        'registration.getNotifications().then(all => all.map(({ title, body, tag }) => ({ title, body, tag })))',
      ),
  }
}

test('a browser switches notifications on, is told while its page is closed, and hears a plain sentence when the server is away', async () => {
  const { fleet, project } = await aScene({ env: TRUSTING })
  const service = await aReceiver({ tls: true })
  service.answers(201)
  const subscriber = aSubscriber(`https://localhost:${service.port}/send/1`)
  const { page, visit, url, context } = await aPerson(fleet, { expects: AWAY })
  await fleet.call('set_notification_settings', { push: { allow_private: true } })
  await context.grantPermissions(['notifications'], { origin: url })
  // This browser has no push service on the network; it gets the keys of one.
  const { endpoint, ...keys } = subscriber.subscription
  await context.addInitScript(
    `PushManager.prototype.subscribe = async () => ({ toJSON: () => (${JSON.stringify({ endpoint, keys })}) })`,
  )

  await visit('/settings')
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Notifications' }).click()
  await page.getByRole('heading', { level: 1, name: 'Notifications' }).waitFor()
  await page.getByRole('switch', { name: 'Notify me in this browser' }).click()
  await page.getByText('On. You are notified even while this page is closed.').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Send a test (Browser)' }).click()
  await page.getByText('The push service accepted it.').waitFor()
  await screenshot(page, 'notifications-light')
  const push = await aPushService(context, page, url)
  const sent = (index: number) => subscriber.decrypt(service.heard[index]!.body)
  await push.deliver(sent(0))
  await expect
    .poll(push.shown)
    .toEqual([expect.objectContaining({ title: 'Test message', body: 'Notifications from Flotilla reach you here.' })])

  await page.goto('about:blank')
  const mission = await fleet.mission(project, 'exit 3', { title: 'Set the mast', agent: 'shell' })
  await fleet.until(mission.id, 'failed')
  await eventually('the push service to be told', () => service.heard.length === 2 || undefined)
  await push.deliver(sent(1))
  await expect
    .poll(push.shown)
    .toContainEqual({ title: 'Failed', body: expect.stringContaining('Set the mast'), tag: mission.id })

  await fleet.kill()
  await push.deliver('{"id":"abc"}')
  await expect
    .poll(push.shown)
    .toContainEqual({ title: 'Something needs you', body: 'Open Flotilla to see what is waiting.', tag: 'abc' })
})

test('ntfy is set up with a form: what it says is what happened, and secrets stay where they are', async () => {
  const { fleet } = await aScene()
  const ntfy = await aReceiver()
  const { page, visit } = await aPerson(fleet, { expects: /status of 400/ })
  await visit('/settings/notifications')
  await page.getByRole('switch', { name: 'Send to an ntfy topic' }).click()
  await page.getByLabel('Topic address').fill(`http://127.0.0.1:${ntfy.port}`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.toast').getByText('is not the address of a topic').waitFor()
  await page.getByLabel('Topic address').fill(`http://127.0.0.1:${ntfy.port}/topic`)
  await page.getByRole('checkbox', { name: 'Failed: ntfy' }).click()
  await page.getByRole('switch', { name: 'Hold messages during quiet hours' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
  const test = page.getByRole('button', { name: 'Send a test (ntfy)' })
  await test.click()
  await page.locator('form').getByRole('status').getByText('is a private address').waitFor()
  await page.getByLabel('Access token').fill('tk_secret')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.toast').getByText('a token is not sent unencrypted').waitFor()
  await page.getByRole('switch', { name: 'Allow a private address' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
  await test.click()
  await page.locator('form').getByRole('status').getByText('ntfy accepted it.').waitFor()
  expect(ntfy.heard.map(({ headers }) => headers.authorization)).toEqual(['Bearer tk_secret'])
  await page.reload()
  await settled(page)
  expect(await page.getByRole('checkbox', { name: 'Failed: ntfy' }).isChecked()).toBe(false)
  expect(await page.getByLabel('Time zone').inputValue()).not.toBe('')
  expect(await page.content()).not.toContain('tk_secret')
  await expectAccessible(page)
})
