import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { aBrowser, tokenIn } from '../../src/server/browser.testkit.ts'
import { SHARED, WHY_SKIPPED } from '../../src/store/postgres/schema.testkit.ts'
import { signInLink } from '../browser/opening.ts'
import { eventually, type TestFleet } from '../kit/fleet.ts'
import { aMailServer, aReceiver, aSubscriber, TRUSTING } from '../kit/receivers.ts'
import { aScene } from '../kit/scene.ts'
import { aServer, decider, inSchema } from '../kit/servers.ts'

/** A browser, ntfy, a mail server and a webhook that hear of failures, each with the ids under which it did. */
async function fourListeners(fleet: TestFleet) {
  const [push, ntfy, hook] = [await aReceiver({ tls: true }), await aReceiver(), await aReceiver()]
  const mail = await aMailServer({ security: 'none' })
  const folder = join(fleet.root, 'home/plugins')
  mkdirSync(folder, { recursive: true })
  const webhook = { url: `http://127.0.0.1:${hook.port}/`, secret: 's', events: ['failed'], allow_private: true }
  writeFileSync(join(folder, 'webhook.json'), JSON.stringify(webhook), { mode: 0o600 })
  const subscriber = aSubscriber(`https://localhost:${push.port}/send`)
  return {
    env: { ...TRUSTING, FLEET_PLUGINS: 'webhook' },
    /** Once there is a server. */
    async subscribe() {
      const link = await signInLink(fleet)
      const { browser } = await aBrowser(new URL(link).origin, tokenIn(link))
      await fleet.call('set_notification_settings', {
        push: { allow_private: true },
        ntfy: { on: true, url: `http://127.0.0.1:${ntfy.port}/topic`, allow_private: true },
        email: {
          ...{ on: true, host: '127.0.0.1', port: mail.port, security: 'none', allow_private: true },
          ...{ from: 'fleet@example.com', to: 'you@example.com' },
        },
      })
      const subscribed = await browser.ask('PUT', '/api/notifications/browser', { body: subscriber.subscription })
      expect(subscribed.status).toBe(200)
    },
    /** They hear, and keep the fleet waiting for an answer. */
    hold(isHeld: boolean) {
      for (const each of [push, ntfy, hook]) each.answers(isHeld ? null : 201)
      mail.answers(!isHeld)
    },
    ids: () => ({
      push: push.heard.map(({ body }) => JSON.parse(subscriber.decrypt(body)).id as string),
      ntfy: ntfy.heard.map(({ headers }) => String(headers['x-sequence-id'])),
      mail: mail.mails.map(({ data }) => /^Message-ID: (.*)$/im.exec(data)![1]!),
      webhook: hook.heard.map(({ headers }) => String(headers['x-flotilla-delivery'])),
    }),
  }
}

describe.skipIf(!SHARED)(`notices on postgresql${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  test('what was on its way when its server was killed or stopped comes once more, under the same id', async () => {
    const { fleet, project } = await aScene({ env: inSchema(), start: false })
    const listeners = await fourListeners(fleet)
    const server = (...args: string[]) => aServer(fleet, args, listeners.env)
    const first = await server()
    await listeners.subscribe()
    const second = await server('--beside')
    expect(await decider(fleet, [first, second])).toBe(first)
    const fails = async (title: string) => {
      const { id } = await fleet.mission(project, 'exit 3', { title })
      await fleet.until(id, 'failed')
    }
    /** How often each heard each notice. The webhook tries again by itself, under the id of the event. */
    const counts = () => {
      const { webhook, ...ids } = listeners.ids()
      const times = (given: string[]) => [...Map.groupBy(given, id => id).values()].map(({ length }) => length)
      return { webhook: times(webhook).length, ...mapped(ids, times) }
    }
    const until = (expected: Record<'push' | 'ntfy' | 'mail', number[]>) => {
      const wanted = JSON.stringify({ webhook: expected.ntfy.length, ...expected })
      return eventually(
        `notices ${wanted}`,
        () => JSON.stringify(counts()) === wanted,
        () => JSON.stringify(counts()),
      )
    }

    listeners.hold(true)
    await fails('while the first decides')
    await until({ push: [1], ntfy: [1], mail: [1] })
    await first.kill()
    listeners.hold(false)
    expect(await decider(fleet, [second])).toBe(second)
    await until({ push: [2], ntfy: [2], mail: [2] })
    // Between two mails there is half a minute.
    await fleet.call('set_notification_settings', { email: { on: false } })

    const third = await server('--beside')
    listeners.hold(true)
    await fails('while the second decides')
    await until({ push: [2, 1], ntfy: [2, 1], mail: [2] })
    second.signal('SIGSTOP')
    listeners.hold(false)
    expect(await decider(fleet, [third])).toBe(third)
    await until({ push: [2, 2], ntfy: [2, 2], mail: [2] })
    // The stopped one goes on: it has sent something of which it could not write the outcome.
    second.signal('SIGCONT')
    await eventually('it has noticed', () => second.said().includes('Another server decides now'))
    await fails('while the third decides')
    await until({ push: [2, 2, 1], ntfy: [2, 2, 1], mail: [2] })
    expect((await fetch(`${second.url}/ready`)).status).toBe(200)
    await third.stop()
    // It runs plugins again, and nobody hears anything again.
    expect(await decider(fleet, [second])).toBe(second)
    await fails('while the second decides again')
    await until({ push: [2, 2, 1, 1], ntfy: [2, 2, 1, 1], mail: [2] })
  }, 120_000)
})

const mapped = <T, U>(of: Record<string, T>, change: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, change(value)]))
