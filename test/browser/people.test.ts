import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { VIEWS } from '../../web/src/views.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, type Person, SIZES, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

const SOON = { timeout: 10_000, interval: 50 }

/** Two projects that share nothing, not even a word. */
async function twoProjects() {
  const scene = await aScene({ project: { name: 'Quokka', landing: 'review' } })
  const other = await scene.repository()
  const wombat = await scene.fleet.project(other.path, { name: 'Wombat', landing: 'review' })
  return { ...scene, quokka: scene.project, wombat, paths: { quokka: scene.repo.path, wombat: other.path } }
}

const dialog = (page: Page) => page.getByRole('dialog').last()

async function choose(page: Page, label: string, option: string) {
  await dialog(page).getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

/** Invites somebody through the page, and returns the link that it shows. */
async function invite({ page, visit }: Person, name: string, role: string, project: string): Promise<string> {
  await visit('/people')
  await page.getByRole('button', { name: 'Invite a person' }).first().click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill(name)
  await choose(page, 'Role', role)
  await choose(page, 'Where', project)
  await dialog(page).getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('heading', { name: `Link for ${name}` }).waitFor()
  await dialog(page)
    .getByText(/^It works until /)
    .waitFor()
  const link = await dialog(page).locator('pre').innerText()
  await dialog(page).getByRole('button', { name: 'Done' }).click()
  await page
    .getByRole('row')
    .filter({ hasText: `${role} in ${project}` })
    .waitFor()
  return link
}

/** Where words occur, with a little around them. */
const found = (text: string, words: readonly string[]): string[] =>
  words.flatMap(word => {
    const at = text.toLowerCase().indexOf(word.toLowerCase())
    return at < 0 ? [] : text.slice(Math.max(0, at - 80), at + 80)
  })

/** What the server says about something that does not exist, or not for whoever asks. */
const refusal = (id: string): string =>
  JSON.stringify({
    error: { code: 'not_found', message: `There is no mission "${id}".`, try: 'fleet list', what: 'mission', id },
  })

const nav = (page: Page) => page.getByRole('navigation', { name: 'Main', exact: true })

test('two people in two browsers: neither sees anything of the other’s project, and one who is removed is out at once', async () => {
  const { fleet, quokka, wombat, paths, gate } = await twoProjects()
  const owner = await aPerson(fleet)
  const links = {
    ada: await invite(owner, 'Ada', 'team-lead', 'Quokka'),
    bob: await invite(owner, 'Bob', 'monitor', 'Wombat'),
  }
  await settled(owner.page)
  await screenshot(owner.page, 'people')
  await expectAccessible(owner.page)
  const heard = { ada: '', bob: '' }
  const note = (who: keyof typeof heard) => (text: string) => {
    heard[who] += text
  }
  const ada = await aPerson(fleet, { link: links.ada, heard: note('ada') })
  const bob = await aPerson(fleet, { link: links.bob, expects: /401|404/, heard: note('bob') })

  // Both watch while agents work in both projects.
  const script = (word: string) => `echo ${word}-words; echo ${word} > ${word}.txt; ${gate(word).wait}`
  const paint = await fleet.mission(quokka, script('quokkapaint'), { title: 'Paint the quokkaboat', agent: 'shell' })
  const sew = await fleet.mission(wombat, script('wombatsail'), { title: 'Sew the wombatsail', agent: 'shell' })
  await ada.page.getByText('Paint the quokkaboat').first().waitFor()
  await bob.page.getByText('Sew the wombatsail').first().waitFor()
  await bob.visit('/missions')
  await bob.page.getByText('Sew the wombatsail').first().waitFor()
  gate('quokkapaint').open()
  gate('wombatsail').open()
  const [painted, sewn] = [await fleet.until(paint.id, 'review'), await fleet.until(sew.id, 'review')]

  // Bob only reads.
  await bob.visit(`/review/${sew.id}`)
  await bob.page.getByRole('region', { name: 'Decide' }).waitFor()
  for (const name of [/^Land/, /^Reject/, /^Request changes/])
    expect(await bob.page.getByRole('button', { name }).count()).toBe(0)
  for (const name of ['New mission', 'People', 'Settings', 'Approvals', 'Integrations'])
    expect(await nav(bob.page).getByRole('link', { name, exact: true }).count(), name).toBe(0)
  expect(await nav(bob.page).getByRole('button', { name: 'Your account' }).count()).toBe(1)
  await bob.visit('/projects')
  await bob.page.getByRole('link', { name: /Wombat/ }).waitFor()
  for (const path of ['/activity', '/graph', '/costs', '/search?q=quokka', `/missions/${paint.id}`]) {
    const unseen = path.startsWith('/missions')
    await bob.visit(path)
    if (unseen) await bob.page.getByText(/There is no mission/).waitFor()
    await settled(bob.page)
    if (!unseen) expect(await bob.page.locator('main').innerText()).not.toMatch(/quokkaboat|quokkapaint|Paint the/i)
  }

  // Ada lands, and everybody who may see it knows that it was her.
  await ada.visit(`/review/${paint.id}`)
  await ada.page.getByRole('button', { name: /^Land/ }).first().click()
  await fleet.until(paint.id, 'done')
  await ada.visit('/activity')
  await ada.page.getByText(/^You landed it on main as /).waitFor()
  await owner.visit('/activity')
  await owner.page.getByText(/^Ada landed it on main as /).waitFor()
  await owner.page.getByRole('combobox', { name: 'Done by' }).click()
  await owner.page.getByRole('option', { name: 'Ada', exact: true }).click()
  await owner.page.getByText(/^Ada approved/).waitFor()
  await settled(owner.page)
  await screenshot(owner.page, 'activity-by-person')
  await owner.visit(`/missions/${paint.id}?tab=history`)
  await owner.page
    .getByText(/^Ada landed it/)
    .first()
    .waitFor()

  // Who asked for what, and what was refused.
  const pried = await bob.page.evaluate(async id => {
    const answer = await fetch(`/api/missions/${id}`)
    return answer.status
  }, paint.id)
  expect(pried).toBe(401)
  await owner.visit('/audit')
  const landed = owner.page.getByRole('row').filter({ hasText: 'Land mission' })
  await landed.filter({ hasText: 'Ada' }).filter({ hasText: 'Page' }).filter({ hasText: 'Done' }).waitFor()
  await owner.page.getByRole('row').filter({ hasText: 'Bob' }).filter({ hasText: 'Refused: not found' }).waitFor()
  await owner.page.getByText(/requests? without a valid sign-in/).waitFor()
  await settled(owner.page)
  await screenshot(owner.page, 'audit')
  const who = owner.page.getByRole('rowheader', { name: 'Ada', exact: true }).first()
  await owner.page.setViewportSize(SIZES.phone)
  await screenshot(owner.page, 'audit-phone')
  expect((await who.boundingBox())!.width, 'room for a name').toBeGreaterThan(80)
  await owner.page.setViewportSize(SIZES.desktop)
  await expectAccessible(owner.page)
  await owner.page.getByRole('combobox', { name: 'Done by' }).click()
  await owner.page.getByRole('option', { name: 'Ada', exact: true }).click()
  await expect.poll(() => owner.page.getByRole('row').filter({ hasText: 'Invite person' }).count(), SOON).toBe(0)
  const saving = owner.page.waitForEvent('download')
  await owner.page.getByRole('button', { name: 'Export' }).click()
  const lines = readFileSync((await (await saving).path())!, 'utf8')
    .trim()
    .split('\n')
  expect(lines.map(line => JSON.parse(line).principal.name)).toEqual(lines.map(() => 'Ada'))
  await ada.visit('/activity')
  await ada.page.getByRole('link', { name: 'Audit log' }).click()
  await ada.page.getByRole('row').filter({ hasText: 'Land mission' }).waitFor()
  expect(await ada.page.locator('main').innerText()).not.toContain('invite_person')
  await bob.visit('/activity')
  expect(await bob.page.getByRole('link', { name: 'Audit log' }).count()).toBe(0)

  // Bob is removed while his page is open.
  await bob.visit('/missions')
  await bob.page.getByText('Sew the wombatsail').first().waitFor()
  await owner.visit('/people')
  await owner.page.getByRole('button', { name: 'Actions for Bob' }).click()
  await owner.page.getByRole('menuitem', { name: 'Remove…' }).click()
  await dialog(owner.page)
    .getByText(/is signed out at once, everywhere/)
    .waitFor()
  await screenshot(owner.page, 'people-remove')
  const refused = bob.page.waitForResponse(answer => answer.url().includes('/api/') && answer.status() === 401)
  const said = bob.page
    .getByText('This browser is signed out.')
    .waitFor()
    .then(() => Date.now())
  await dialog(owner.page).getByRole('button', { name: 'Remove Bob' }).click()
  await owner.page.getByText('Bob has no access any more').first().waitFor()
  const removed = Date.now()
  expect((await said) - removed).toBeLessThan(2000)
  await refused
  const next = bob.page.waitForResponse(answer => answer.url().includes('/api/mission'))
  await bob.page.getByText('Sew the wombatsail').first().click()
  expect((await next).status()).toBe(401)

  const [ofQuokka, ofWombat] = [
    ['quokka', quokka.id, paths.quokka, painted.id, ...painted.sessions.map(({ id }) => id)],
    ['wombat', wombat.id, paths.wombat, sewn.id, ...sewn.sessions.map(({ id }) => id)],
  ]
  // It recorded the lists and the streams.
  expect(heard.ada).toContain('Paint the quokkaboat')
  for (const all of Object.values(heard)) expect(all).toContain('event: session_running')
  expect(found(heard.ada, ofWombat)).toEqual([])
  // Bob typed the id into an address, and the refusal repeats it.
  expect(found(heard.bob.replaceAll(refusal(painted.id), ''), ofQuokka)).toEqual([])
}, 240_000)

/** Goes to another page as a link does, without loading everything again. */
async function turnTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`document.querySelector('h1')?.setAttribute('data-before', '')
    history.pushState(null, '', ${JSON.stringify(path)})`)
  await page.locator('h1:not([data-before])').first().waitFor()
  await settled(page)
}

/** Addresses of pages, with what exists in the project. */
const addresses = (ids: Record<string, string>): string[] =>
  VIEWS.flatMap(view => {
    const path = view.replace(/:(\w+)/g, (whole, name: string) => ids[name] ?? whole)
    return path.includes(':') ? [] : path
  })

test.each(['team-lead', 'worker', 'monitor'])(
  'a %s in one project can open every page without an error',
  async role => {
    const { fleet, quokka, wombat, gate } = await twoProjects()
    const done = await fleet.mission(quokka, 'echo hull > hull.txt', { title: 'Draw the hull', agent: 'shell' })
    const { sessions } = await fleet.until(done.id, 'review')
    await fleet.mission(quokka, gate('hold').wait, { title: 'Hold on', agent: 'shell' })
    await fleet.mission(wombat, gate('hold').wait, { title: 'Something else', agent: 'shell' })
    const { invitation } = await fleet.call<{ invitation: { url: string } }>('invite_person', {
      name: 'Cleo',
      grants: [{ role, project_id: quokka.id }],
    })
    const { page } = await aPerson(fleet, { link: invitation.url })
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    const refused: string[] = []
    page.on('response', answer => answer.status() >= 400 && refused.push(`${answer.status()} ${answer.url()}`))
    const ids = { mission_id: done.id, session_id: sessions[0]!.id, project_id: quokka.id }
    for (const path of ['/account', ...addresses(ids)]) {
      await turnTo(page, path)
      expect(await page.getByRole('alert').count(), path).toBe(0)
    }
    const tabs = [
      ...['live', 'history', 'notes', 'hands', 'settings'].map(tab => `/missions/${done.id}?tab=${tab}`),
      ...['settings', 'checks', 'mcp'].map(tab => `/projects/${quokka.id}?tab=${tab}`),
    ]
    for (const tab of tabs) {
      await turnTo(page, '/account')
      await turnTo(page, tab)
      expect(await page.getByRole('alert').count(), tab).toBe(0)
    }
    expect(refused).toEqual([])
    await turnTo(page, '/')
    await screenshot(page, `home-of-a-${role}`)
  },
  180_000,
)

test('roles that change are followed by the open page', async () => {
  const { fleet, quokka } = await twoProjects()
  const done = await fleet.mission(quokka, 'echo hull > hull.txt', { title: 'Draw the hull', agent: 'shell' })
  await fleet.until(done.id, 'review')
  const owner = await aPerson(fleet)
  const ada = await aPerson(fleet, { link: await invite(owner, 'Ada', 'monitor', 'Quokka'), expects: /403/ })
  await ada.visit(`/missions/${done.id}`)
  await ada.page.getByRole('heading', { level: 1, name: 'Draw the hull' }).waitFor()
  const land = ada.page.getByRole('button', { name: 'Land', exact: true })
  expect(await land.count()).toBe(0)
  await owner.page.getByRole('button', { name: 'Actions for Ada' }).click()
  await owner.page.getByRole('menuitem', { name: 'Change roles…' }).click()
  await choose(owner.page, 'Role', 'merger')
  await dialog(owner.page).getByRole('button', { name: 'Save' }).click()
  await land.waitFor()
  await ada.visit('/account')
  await ada.page.getByText('merger in Quokka').first().waitFor()
  await ada.page.getByText('land, undo and reject work').waitFor()
  // Without any role the page says so, and asks for nothing.
  await owner.page.getByRole('button', { name: 'Actions for Ada' }).click()
  await owner.page.getByRole('menuitem', { name: 'Change roles…' }).click()
  await dialog(owner.page).getByRole('button', { name: 'Remove this role' }).click()
  await dialog(owner.page).getByRole('button', { name: 'Save' }).click()
  await ada.page.getByText('you have no role in this fleet').waitFor()
}, 120_000)

test('a service gets a token that is shown once and works until it is revoked; a person makes and revokes their own', async () => {
  const { fleet } = await twoProjects()
  const owner = await aPerson(fleet)
  const { page, visit, url } = owner
  const asked = async (token: string) =>
    (await fetch(`${url}/api/me`, { headers: { authorization: `Bearer ${token}` } })).status
  await visit('/people')
  await page.getByRole('button', { name: 'Add a service' }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('nightly')
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('dialog', { name: 'Make a token for nightly' }).waitFor()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('cron')
  await dialog(page).getByRole('button', { name: 'Make token' }).click()
  const token = await dialog(page).locator('pre').innerText()
  expect(token).toMatch(/^flt_/)
  await screenshot(page, 'token-shown-once')
  await expectAccessible(page)
  expect(await asked(token)).toBe(200)
  await dialog(page).getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'nightly', exact: true }).click()
  await dialog(page)
    .getByText(/used now|used \d+s ago/)
    .waitFor()
  await screenshot(page, 'person-details')
  await expectAccessible(page)
  expect(await page.locator('body').innerText()).not.toContain(token)
  await dialog(page).getByRole('button', { name: 'Revoke cron' }).click()
  await dialog(page)
    .getByText(/^None\. A token lets/)
    .waitFor()
  expect(await asked(token)).toBe(401)
  await dialog(page).getByRole('button', { name: 'Close' }).click()

  const ada = await aPerson(fleet, { link: await invite(owner, 'Ada', 'team-lead', 'Quokka') })
  await ada.visit('/account')
  await ada.page.getByText('You are Ada').waitFor()
  await ada.page.getByRole('button', { name: 'Make a token' }).click()
  await dialog(ada.page).getByRole('textbox', { name: 'Name' }).fill('laptop')
  await dialog(ada.page).getByRole('switch', { name: 'Fewer roles' }).click()
  await choose(ada.page, 'Where', 'Quokka')
  await dialog(ada.page).getByRole('button', { name: 'Make token' }).click()
  const own = await dialog(ada.page).locator('pre').innerText()
  expect(await asked(own)).toBe(200)
  await dialog(ada.page).getByRole('button', { name: 'Done' }).click()
  await ada.page.getByText('only monitor in Quokka').waitFor()
  await ada.page.getByRole('button', { name: 'Revoke laptop' }).click()
  await expect.poll(() => asked(own), SOON).toBe(401)
}, 120_000)

test('a person sets a password and signs another browser in with it', async () => {
  const { fleet, project } = await aScene()
  await fleet.call('update_project', { project_id: project.id, name: 'Quokka' })
  const { invitation } = (await fleet.call('invite_person', {
    name: 'Ada',
    grants: [{ role: 'team-lead', project_id: project.id }],
  })) as { invitation: { url: string } }
  const ada = await aPerson(fleet, { link: invitation.url })
  await ada.visit('/account')
  await ada.page.getByLabel('New password').fill('correct horse battery')
  await ada.page.getByRole('button', { name: 'Set password' }).click()
  await ada.page.locator('.toast').getByText('Your password is set').waitFor()
  await expectAccessible(ada.page)

  const context = await ada.context.browser()!.newContext()
  onTestFinished(() => context.close())
  const another = await context.newPage()
  await another.goto(`${ada.url}/sign-in`)
  await another.getByText('With a password').click()
  await another.getByLabel('Name').fill('ada')
  await another.getByLabel('Password').fill('a wrong password')
  await another.locator('#password-sign-in').getByRole('button', { name: 'Sign in' }).click()
  await another.getByText('This name and password do not go together.').waitFor()
  await another.getByLabel('Password').fill('correct horse battery')
  await another.locator('#password-sign-in').getByRole('button', { name: 'Sign in' }).click()
  await another.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await another.goto(`${ada.url}/account`)
  await another.getByText('You are Ada').waitFor()
}, 120_000)

test.each([
  ['light', 'desktop'],
  ['dark', 'desktop'],
  ['light', 'phone'],
] as const)(
  'people and account are accessible in %s on a %s',
  async (scheme, size) => {
    const { fleet, quokka } = await twoProjects()
    const owner = await aPerson(fleet, { scheme, size })
    const { page, visit } = owner
    await visit('/account')
    await page.getByText('You are the owner of this fleet').waitFor()
    await settled(page)
    await screenshot(page, `account-owner-${scheme}-${size}`)
    await expectAccessible(page)
    await visit('/people')
    await page.getByText('Only you').waitFor()
    await expectAccessible(page)
    const { invitation } = await fleet.call<{ invitation: { url: string } }>('invite_person', {
      name: 'Ada',
      grants: [
        { role: 'team-lead', project_id: quokka.id },
        { role: 'monitor', project_id: null },
      ],
    })
    await page.getByRole('row').filter({ hasText: 'Ada' }).waitFor()
    await screenshot(page, `people-${scheme}-${size}`)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Invite a person' }).first().click()
    await dialog(page).getByRole('textbox', { name: 'Name' }).waitFor()
    await screenshot(page, `people-invite-${scheme}-${size}`)
    await expectAccessible(page)
    const ada = await aPerson(fleet, { link: invitation.url, scheme, size })
    await ada.visit('/account')
    await ada.page.getByText('You are Ada').waitFor()
    await settled(ada.page)
    await screenshot(ada.page, `account-${scheme}-${size}`)
    await expectAccessible(ada.page)
  },
  120_000,
)
