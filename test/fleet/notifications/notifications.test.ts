import { expect, test } from 'vitest'
import { aBrowser, tokenIn } from '../../../src/server/browser.testkit.ts'
import { signInLink } from '../../browser/opening.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { aMailServer, aReceiver, aSubscriber, isFrom, TRUSTING } from '../../kit/receivers.ts'
import { aScene } from '../../kit/scene.ts'

/** A browser that is signed in to a running server. */
async function signedIn(fleet: TestFleet) {
  const link = await signInLink(fleet)
  const url = new URL(link).origin
  return { url, ...(await aBrowser(url, tokenIn(link))) }
}

const BROWSER = '/api/notifications/browser'
const SETTINGS = '/api/notifications/settings'

test('a push message holds an id and nothing else, and only that browser learns the words; one that is gone is forgotten', async () => {
  const { fleet, project } = await aScene({ env: TRUSTING })
  const service = await aReceiver({ tls: true })
  service.answers(201)
  const { browser } = await signedIn(fleet)
  const subscriber = aSubscriber(`https://localhost:${service.port}/send/abc`)
  const subscribe = () => browser.ask('PUT', BROWSER, { body: subscriber.subscription })
  expect([(await subscribe()).status, (await subscribe()).json.error.message]).toEqual([
    400,
    expect.stringContaining('localhost is a private address'),
  ])
  await browser.ask('PUT', SETTINGS, { body: { push: { allow_private: true } } })
  const { json: settings } = await subscribe()
  expect(settings.push.browsers).toEqual([{ device_id: browser.device, name: expect.any(String), this_one: true }])

  const mission = await fleet.mission(project, 'echo no mast >&2; exit 3', { title: 'Set the mast', agent: 'shell' })
  await fleet.until(mission.id, 'failed')
  const [told] = await eventually('a push message', () => (service.heard.length ? service.heard : undefined))
  const { id, ...rest } = JSON.parse(subscriber.decrypt(told!.body))
  expect(rest).toEqual({})
  expect(told!.headers).toMatchObject({ 'content-encoding': 'aes128gcm', topic: id, urgency: 'high' })
  expect(isFrom(settings.push.public_key, told!.headers.authorization!, `https://localhost:${service.port}`)).toBe(true)
  const words = await browser.ask('GET', `/api/notifications/${id}`)
  expect(words.json).toMatchObject({ title: 'Failed', path: `/missions/${mission.id}`, tag: mission.id })
  expect(words.json.body).toContain('Set the mast')

  service.answers(410)
  const other = await fleet.mission(project, 'exit 3', { title: 'Again', agent: 'shell' })
  await fleet.until(other.id, 'failed')
  await eventually('the browser to be forgotten', async () => {
    const { json } = await browser.ask('GET', SETTINGS)
    return json.push.browsers.length === 0 || undefined
  })
  expect(service.heard).toHaveLength(2)
})

test('no push service may be a plain or private address', async () => {
  const { fleet } = await aScene()
  const { browser } = await signedIn(fleet)
  for (const endpoint of [
    ...[
      'http://push.example.com/a',
      'https://127.0.0.1/a',
      'https://[::1]/a',
      'https://10.0.0.1/',
      'https://2130706433/',
    ],
    ...['https://169.254.169.254/latest', 'https://me:pw@push.example.com/', 'file:///etc/passwd', 'nothing'],
  ]) {
    const { status } = await browser.ask('PUT', BROWSER, { body: aSubscriber(endpoint).subscription })
    expect([endpoint, status]).toEqual([endpoint, 400])
  }
  // A name that leads to this machine is found out when it is used.
  const { subscription } = aSubscriber('https://localhost.localdomain.invalid/')
  expect((await browser.ask('PUT', BROWSER, { body: subscription })).status).toBe(200)
  const { json } = await browser.ask('POST', '/api/notifications/test', { body: { channel: 'push' } })
  expect(json.outcomes).toEqual([{ to: expect.any(String), ok: false, said: expect.stringMatching(/^Not reached/) }])
  // Only a browser speaks for itself.
  const refused = await fleet.http(BROWSER, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(subscription),
  })
  expect(refused.status).toBe(403)
})

test('a server that is killed while it tells ntfy tells it again under the same name, and then no more', async () => {
  const { fleet, project } = await aScene()
  const ntfy = await aReceiver()
  ntfy.answers(null)
  await fleet.call('set_notification_settings', {
    page_address: 'https://fleet.example.com',
    ntfy: { on: true, url: `http://127.0.0.1:${ntfy.port}/my-topic`, token: 'tk_secret', allow_private: true },
  })
  const mission = await fleet.mission(project, 'exit 3', { title: 'Set the mast ⛵', agent: 'shell' })
  await fleet.until(mission.id, 'failed')
  await eventually('ntfy to be told', () => ntfy.heard.length === 1 || undefined)
  await fleet.kill()
  ntfy.answers(200)
  await fleet.start()
  await eventually('ntfy to be told again', () => ntfy.heard.length === 2 || undefined)
  const settings = () =>
    fleet.call<{ ntfy: { last: { status: string }; has_token: boolean } }>('get_notification_settings', {})
  await eventually('the outcome', async () => (await settings()).ntfy.last.status === 'sent' || undefined)
  const [first, second] = ntfy.heard
  expect(second!.headers['x-sequence-id']).toBe(first!.headers['x-sequence-id'])
  expect(second!.headers.authorization).toBe('Bearer tk_secret')
  expect(JSON.parse(second!.body.toString())).toEqual({
    topic: 'my-topic',
    title: 'Failed',
    message: 'Set the mast ⛵',
    click: `https://fleet.example.com/missions/${mission.id}`,
    priority: 4,
  })
  await fleet.kill()
  await fleet.start()
  const third = await fleet.mission(project, 'exit 3', { title: 'Another', agent: 'shell' })
  await fleet.until(third.id, 'failed')
  await eventually('ntfy to be told of the next', () => ntfy.heard.length === 3 || undefined)
  expect(JSON.parse(ntfy.heard[2]!.body.toString()).message).toBe('Another')
  expect(JSON.stringify(await settings())).not.toContain('tk_secret')
})

test('ntfy hears of what was chosen only, redirects are not followed, and a private address needs leave', async () => {
  const { fleet, project } = await aScene()
  const ntfy = await aReceiver()
  const url = `http://127.0.0.1:${ntfy.port}/topic`
  const outcome = async () => {
    const { outcomes } = await fleet.call<{ outcomes: { said: string }[] }>('test_notifications', { channel: 'ntfy' })
    return outcomes[0]!.said
  }
  await fleet.call('set_notification_settings', { ntfy: { on: true, url, needs: ['review'] } })
  expect(await outcome()).toContain('127.0.0.1 is a private address')
  await fleet.call('set_notification_settings', { ntfy: { allow_private: true } })
  expect(await outcome()).toBe('ntfy accepted it.')
  ntfy.answers(302)
  expect(await outcome()).toBe('ntfy answered 302.')
  ntfy.answers(403)
  expect(await outcome()).toContain('ntfy answered 403. It does not accept the credentials.')
  ntfy.answers(200)
  const before = ntfy.heard.length
  const failed = await fleet.mission(project, 'exit 3', { title: 'Set the mast', agent: 'shell' })
  await fleet.until(failed.id, 'failed')
  const review = await fleet.mission(project, 'echo > hull', { title: 'Draw', agent: 'shell', landing: 'review' })
  await fleet.until(review.id, 'review')
  await eventually('the review to be told', () => ntfy.heard.length > before || undefined)
  expect(ntfy.heard.slice(before).map(({ body }) => JSON.parse(body.toString()).title)).toEqual(['Ready for review'])
})

test.each(['tls', 'starttls'] as const)(
  'a mail goes out encrypted by %s, with the name of its event',
  async security => {
    const { fleet, project } = await aScene({ env: TRUSTING })
    const server = await aMailServer({ security })
    await fleet.call('set_notification_settings', {
      details: true,
      email: {
        ...{ on: true, host: 'localhost', port: server.port, security, user: 'me', password: 'pw-of-me' },
        ...{ from: 'fleet@example.com', to: 'you@example.com', allow_private: true },
      },
    })
    const script = 'echo the mast is too tall >&2; exit 3'
    const mission = await fleet.mission(project, script, {
      title: 'Set the mast\r\nBcc: all@example.com',
      agent: 'shell',
    })
    await fleet.until(mission.id, 'failed')
    const [mail] = await eventually('a mail', () => (server.mails.length ? server.mails : undefined))
    expect(mail).toMatchObject({ encrypted: true, user: 'me', to: expect.stringContaining('you@example.com') })
    expect(mail!.data).toMatch(/^Subject: Failed: Set the mast Bcc: all@example.com$/m)
    expect(mail!.data).toMatch(/^Message-ID: <\w+@\w+\.flotilla>$/im)
    expect(mail!.data).not.toMatch(/^Bcc:/m)
    // Asked over HTTP: the server trusts the certificate.
    const { browser } = await signedIn(fleet)
    const { json } = await browser.ask('POST', '/api/notifications/test', { body: { channel: 'email' } })
    expect(json.outcomes).toEqual([
      { to: 'you@example.com', ok: true, said: 'The mail server accepted it: 250 2.0.0 Ok: queued as 4F2A' },
    ])
  },
)

test('a mail server that is not trusted, does not encrypt or refuses gets nothing, and a test says so', async () => {
  const { fleet } = await aScene()
  const email = { host: 'localhost', from: 'fleet@example.com', to: 'you@example.com', allow_private: true }
  const outcome = async (settings: object) => {
    await fleet.call('set_notification_settings', { email: { ...email, ...settings } })
    const { outcomes } = await fleet.call<{ outcomes: { said: string }[] }>('test_notifications', { channel: 'email' })
    return outcomes[0]!.said
  }
  const unknown = await aMailServer({ security: 'tls' })
  expect(await outcome({ port: unknown.port, security: 'tls' })).toMatch(/self-signed certificate/)
  const plain = await aMailServer({ security: 'none' })
  expect(await outcome({ port: plain.port, security: 'starttls' })).toMatch(/STARTTLS|TLS/)
  expect(plain.mails).toEqual([])
  const refusing = await aMailServer({ security: 'none', accepts: false })
  expect(await outcome({ port: refusing.port, security: 'none' })).toContain('550 5.7.1 We do not want this')
  await expect(outcome({ security: 'none', user: 'me', password: 'pw' })).rejects.toThrow('not sent unencrypted')
})
