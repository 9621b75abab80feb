import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { accessFaults, screenshot } from './kit.ts'
import { aBrowser, signInLink } from './opening.ts'

let browser: Browser
beforeAll(async () => {
  browser = await aBrowser()
})
afterAll(() => browser?.close())

interface Koa {
  callback(): RequestListener
}

/** A real provider on this machine, with accounts whose groups the test decides. */
async function aProvider() {
  let answer: RequestListener = (_, response) => void response.writeHead(503).end()
  const server = createServer((request, response) => answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const groups = new Map<string, string[]>()
  const serve = async (redirect: string) => {
    // The package has no types.
    const { Provider } = (await import('oidc-provider' as string)) as {
      Provider: new (issuer: string, configuration: object) => Koa
    }
    const client = {
      client_id: 'fleet',
      client_secret: 'the-client-secret-of-the-fleet',
      redirect_uris: [redirect],
      token_endpoint_auth_method: 'client_secret_post',
    }
    answer = new Provider(issuer, {
      clients: [client],
      cookies: { keys: ['a key of a test'] },
      pkce: { required: () => true },
      claims: { openid: ['sub'], profile: ['preferred_username'], groups: ['groups'] },
      scopes: ['openid', 'profile', 'groups'],
      findAccount: (_: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, preferred_username: id, groups: groups.get(id) ?? [] }),
      }),
    }).callback()
  }
  return { issuer, groups, serve }
}

/** Fills in the forms of the provider. */
async function signInThere(page: Page, name: string): Promise<void> {
  await page.locator('input[name=login]').fill(name)
  await page.locator('input[name=password]').fill('whatever')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

test('a person signs in with a real provider, gets the roles of their groups, and loses them with the group', async () => {
  const provider = await aProvider()
  const { fleet, project } = await aScene({
    project: { name: 'website' },
    env: {
      FLEET_OIDC_ISSUER: provider.issuer,
      FLEET_OIDC_CLIENT_ID: 'fleet',
      FLEET_OIDC_CLIENT_SECRET: 'the-client-secret-of-the-fleet',
      FLEET_OIDC_NAME: 'Acme',
      FLEET_OIDC_GROUPS: 'devs=monitor@website',
      FLEET_SIGN_IN_WITH: 'provider',
    },
  })
  const url = new URL(await signInLink(fleet)).origin
  await provider.serve(`${url}/sign-in/provider`)
  provider.groups.set('ada', ['devs'])

  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const addresses: string[] = []
  page.on('framenavigated', frame => addresses.push(frame.url()))
  // Where she wanted to go. An address cannot lead elsewhere.
  await page.goto(`${url}/missions?return_to=https://evil.example`)
  await page.getByRole('button', { name: 'Sign in with Acme' }).waitFor()
  expect(await page.getByText('With a password').isVisible()).toBe(false)
  expect(await accessFaults(page)).toEqual([])
  await screenshot(page, 'sign-in-provider')
  await page.getByRole('button', { name: 'Sign in with Acme' }).click()
  await signInThere(page, 'ada')
  await page.waitForURL(`${url}/missions**`)
  await page.getByRole('heading', { level: 1, name: 'Missions' }).waitFor()
  const { people } = await fleet.call<{ people: { id: string; name: string; grants: object[] }[] }>('list_people', {})
  expect(people).toMatchObject([{ name: 'ada', grants: [{ role: 'monitor', project_id: project.id }] }])
  // What the provider put into the address is gone from it, and never was in the log.
  expect(page.url()).not.toContain('code=')
  const back = addresses.find(each => each.includes('/sign-in/provider?'))!
  const code = new URL(back).searchParams.get('code')!
  const logs = join(fleet.fleet.home.path, 'logs')
  const log = readdirSync(logs).map(name => readFileSync(join(logs, name), 'utf8'))
  for (const secret of [code, 'the-client-secret-of-the-fleet']) expect(log.join('')).not.toContain(secret)

  // The answer that was used works for nobody: not here, not in the browser of somebody who is sent the link.
  const other = await browser.newContext()
  onTestFinished(() => other.close())
  for (const each of [context, other]) {
    const again = await each.newPage()
    await again.goto(back)
    await again.getByText('This sign-in was not begun in this browser.').waitFor()
    await again.close()
  }

  // An answer that another browser began: she is not signed in as the attacker.
  const attacker = await other.newPage()
  provider.groups.set('mallory', ['devs'])
  let caught = ''
  attacker.on('request', request => {
    if (request.url().includes('/sign-in/provider?')) caught = request.url()
  })
  // They keep what the provider answered for somebody else.
  await other.route('**/sign-in/provider/finish', route => route.abort())
  await attacker.goto(`${url}/sign-in`)
  await attacker.getByRole('button', { name: 'Sign in with Acme' }).click()
  await signInThere(attacker, 'mallory')
  await expect.poll(() => caught).toContain('code=')
  await page.goto(caught)
  await page.getByText('This sign-in was not begun in this browser.').waitFor()
  await page.goto(`${url}/account`)
  await page
    .getByText(/\bada\b/)
    .first()
    .waitFor()

  // Her group is gone: at the next sign-in so is the role, and she is told why.
  provider.groups.set('ada', ['others'])
  const phone = await browser.newContext()
  onTestFinished(() => phone.close())
  const late = await phone.newPage()
  await late.goto(`${url}/sign-in`)
  await late.getByRole('button', { name: 'Sign in with Acme' }).click()
  await signInThere(late, 'ada')
  await late.getByText('None of your groups has a role in this fleet.').waitFor()
  const after = await fleet.call<{ people: { name: string; grants: object[] }[] }>('list_people', {})
  expect(after.people.find(({ name }) => name === 'ada')!.grants).toEqual([])

  // The machine itself is the way back in.
  await late.goto(await signInLink(fleet))
  await late.waitForURL(`${url}/`)
}, 120_000)
