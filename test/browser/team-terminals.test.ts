import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aTeam } from '../kit/team.ts'
import { tmuxIn } from '../kit/tmux.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

/** A client that asks a person before it goes on. */
const CLIENT = `printf '> '
while read -r line; do
  case $line in
  *hull*) printf 'Open the hatch? [y/N] '; read -r answer; echo "the hatch: $answer" ;;
  *) echo "heard: $line" ;;
  esac
  printf '> '
done`

const dialog = (page: Page) => page.getByRole('dialog').last()
const screen = (page: Page) => dialog(page).getByRole('log', { name: 'Screen of finn' })
const member = (page: Page) =>
  page.getByRole('list', { name: 'Members' }).getByRole('listitem').filter({ hasText: 'finn' })
const chip = (page: Page, text: string, words: RegExp) =>
  page
    .getByRole('article')
    .filter({ hasText: text })
    .getByRole('list', { name: 'Delivery' })
    .getByRole('listitem')
    .filter({ hasText: words })

async function choose(page: Page, label: string, option: string) {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

describe.skipIf(!tmuxIn)('a member in tmux on the page', () => {
  async function aCrew() {
    const s = await aScene({ project: { name: 'Ship' }, env: { FLEET_TERMINAL_PATIENCE: '1' } })
    const crew = await aTeam(s, [])
    const tmux = tmuxIn!(s.fleet.fleet.home.path)
    onTestFinished(tmux.end)
    return { ...s, crew, tmux }
  }

  test('it is added and watched; mail is typed there, waits at a question, and goes on once a person has answered', async () => {
    const s = await aCrew()
    // Once tmux has ended there is nothing to show.
    const { page, visit } = await aPerson(s.fleet, { expects: /409/ })
    await visit(`/teams/${s.crew.team.id}`)
    await page.getByRole('button', { name: 'Add a member' }).click()
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('finn')
    await choose(page, 'Agent', 'Shell script')
    await choose(page, 'Runs', 'In a terminal (tmux)')
    await dialog(page).getByText('Its own client starts at once in a window of tmux', { exact: false }).waitFor()
    await dialog(page).getByRole('textbox', { name: 'Script' }).fill(CLIENT)
    await expectAccessible(page)
    await dialog(page).getByRole('button', { name: 'Add' }).click()
    await member(page).getByText('Idle').waitFor()

    await s.crew.send('finn', 'Mind the tide', { wake: true })
    await chip(page, 'Mind the tide', /finn\s*Heard/).waitFor()
    await member(page).getByRole('button', { name: 'Terminal' }).click()
    await dialog(page).getByText('Idle', { exact: true }).waitFor()
    await expect.poll(() => screen(page).textContent()).toMatch(/heard: .*Mind the tide/s)
    await s.crew.send('finn', 'Look at the hull', { wake: true })
    await dialog(page).getByText('Asks', { exact: true }).waitFor()
    await dialog(page).getByText('a question that only a person answers', { exact: false }).waitFor()
    await expect.poll(() => screen(page).textContent()).toContain('Open the hatch?')
    const { id } = await s.crew.send('finn', 'And at the keel', { wake: true })
    await settled(page)
    await screenshot(page, 'team-terminal')
    await expectAccessible(page)
    await dialog(page).getByRole('button', { name: 'Close' }).click()
    await chip(page, 'And at the keel', /finn\s*Queued/).waitFor()
    expect((await s.crew.mail(id)).deliveries).toMatchObject([{ state: 'queued' }])

    await member(page).getByRole('button', { name: 'Terminal' }).click()
    await dialog(page).getByRole('button', { name: 'Press y' }).click()
    await dialog(page).getByRole('button', { name: 'Press Enter' }).click()
    await expect.poll(() => screen(page).textContent()).toMatch(/the hatch: y[\s\S]*And at the keel/)
    await dialog(page).getByRole('textbox', { name: 'A line to type' }).fill('thank you')
    await dialog(page).getByRole('textbox', { name: 'A line to type' }).press('Enter')
    await expect.poll(() => screen(page).textContent()).toContain('heard: thank you')

    s.tmux.end()
    await dialog(page).getByRole('button', { name: 'Open it again' }).click()
    await dialog(page).getByText('Idle', { exact: true }).waitFor()
    await dialog(page).getByRole('button', { name: 'Type it' }).waitFor()
  })

  test('on a phone its screen fits, and whoever may only look at the team does not see it', async () => {
    const s = await aCrew()
    await s.crew.add('finn', { charter: CLIENT, placement: 'tmux' })
    const { page, visit } = await aPerson(s.fleet, { size: 'phone', scheme: 'dark' })
    await visit(`/teams/${s.crew.team.id}?tab=members`)
    await member(page).getByRole('button', { name: 'Terminal' }).click()
    await dialog(page).getByText('Idle', { exact: true }).waitFor()
    await dialog(page).getByRole('button', { name: 'Press Enter' }).waitFor()
    await settled(page)
    await screenshot(page, 'team-terminal-phone')
    await expectAccessible(page)
    const box = await dialog(page).boundingBox()
    expect(box!.x + box!.width).toBeLessThanOrEqual(390)

    const grants = [{ role: 'monitor', project_id: s.project.id }]
    const { invitation } = await s.fleet.call<{ invitation: { url: string } }>('invite_person', {
      name: 'Mona',
      grants,
    })
    const guest = await aPerson(s.fleet, { link: invitation.url })
    await guest.visit(`/teams/${s.crew.team.id}`)
    await member(guest.page).getByText('finn').first().waitFor()
    expect(await member(guest.page).getByRole('button', { name: 'Terminal' }).count()).toBe(0)
  })
})
