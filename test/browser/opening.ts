import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { TestFleet } from '../kit/fleet.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

export async function aBrowser(): Promise<Browser> {
  if (!CHROMIUM) throw new Error('This needs chromium: apt-get install chromium')
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** The link that the server prints for a person. */
export async function signInLink(fleet: TestFleet): Promise<string> {
  const { stdout } = await fleet.fleetCommand(['up', '--detach'])
  const link = /https?:\/\/\S+\/sign-in\S*/.exec(stdout)?.[0]
  if (!link) throw new Error(`fleet up --detach gave no link:\n${stdout}`)
  return link
}

/** Opens a sign-in link. Its page makes a key, registers it, and goes to the dashboard. */
export async function comeIn(page: Page, link: string): Promise<void> {
  await page.goto(link)
  await page.waitForURL(url => url.pathname === '/')
}
