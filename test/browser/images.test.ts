import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { STAND_INS, VIEWER } from '../agents/stand-ins.ts'
import { eventually } from '../kit/fleet.ts'
import { noise, PICTURES } from '../kit/images.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

async function scene() {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-images-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const env = { PATH: `${STAND_INS}:${process.env.PATH}`, VIEWER_LOG: join(folder, 'seen.jsonl') }
  const it = await aScene({ env, start: false })
  writeFileSync(join(it.fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [VIEWER] }))
  await it.fleet.call('update_project', { project_id: it.project.id, agent: 'viewer' })
  await it.fleet.start()
  return { ...it, folder }
}

interface Dropped {
  name: string
  bytes: Buffer
  /** What the file claims to be. */
  type: string
}

/** As a browser does it when files are dragged in from a folder. */
async function drop(page: Page, on: Locator, ...files: Dropped[]): Promise<void> {
  const given = files.map(({ name, bytes, type }) => ({ name, type, data: bytes.toString('base64') }))
  const dataTransfer = await page.evaluateHandle(
    `(() => {
      const transfer = new DataTransfer()
      for (const { name, type, data } of ${JSON.stringify(given)})
        transfer.items.add(new File([Uint8Array.from(atob(data), letter => letter.charCodeAt(0))], name, { type }))
      return transfer
    })()`,
  )
  for (const event of ['dragenter', 'dragover', 'drop']) await on.dispatchEvent(event, { dataTransfer })
}

/** Puts a picture into the clipboard, as a screenshot tool does, and presses the keys. */
async function paste(page: Page, into: Locator, bytes: Buffer): Promise<void> {
  await page.evaluate(
    `(async () => {
      const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), letter => letter.charCodeAt(0))
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) })])
    })()`,
  )
  await into.press('Control+v')
}

interface Mission {
  id: string
  title: string
  images: string[]
}

test('images are pasted, dropped, chosen and removed for a task', async () => {
  const { fleet, folder } = await scene()
  const { page, visit, context } = await aPerson(fleet)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await visit('/')
  const task = page.getByRole('textbox', { name: 'Task' })
  await task.fill('Make the button look like this.')
  const images = page.getByRole('list', { name: 'Images' })
  const pictures = images.getByRole('img')

  await paste(page, task, PICTURES.png)
  await expect.poll(() => pictures.count()).toBe(1)
  expect(await task.inputValue()).toBe('Make the button look like this.')
  await drop(page, task, { name: 'second.txt', bytes: PICTURES.jpeg, type: 'text/plain' })
  await expect.poll(() => pictures.count()).toBe(2)
  const file = join(folder, 'third.webp')
  writeFileSync(file, PICTURES.webp)
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Add image' }).click()
  await (await choosing).setFiles(file)
  await expect.poll(() => pictures.count()).toBe(3)
  expect(await pictures.last().getAttribute('src')).toMatch(/^data:image\/webp;base64,/)
  await expectAccessible(page)
  await screenshot(page, 'images-composer-light')

  // What is no image, too large or too much is refused in words, and the text stays.
  const drawing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
  await drop(page, task, { name: 'drawing.png', bytes: drawing, type: 'image/png' })
  await page.getByText('drawing.png is not a PNG, JPEG, GIF or WebP image.').first().waitFor()
  await drop(page, task, { name: 'large.png', bytes: noise(1200, 1000), type: 'image/png' })
  await page.getByText('large.png is too large: it has 3.7 MB').first().waitFor()
  const small = [1, 2, 3].map(n => ({ name: `small-${n}.png`, bytes: noise(n, 4), type: 'image/png' }))
  await drop(page, task, ...small)
  await page.getByText('small-3.png was not added: a mission may have 5 images.').first().waitFor()
  await expect.poll(() => pictures.count()).toBe(5)
  for (const name of ['small-1.png', 'small-2.png', 'second.txt'])
    await images.getByRole('button', { name: `Remove ${name}` }).click()
  await expect.poll(() => pictures.count()).toBe(2)

  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('“Make the button look like this.” is queued').first().waitFor()
  await expect.poll(() => pictures.count()).toBe(0)
  const { missions } = await fleet.call<{ missions: Mission[] }>('list_missions')
  const mission = missions.find(({ title }) => title === 'Make the button look like this.')!
  expect(mission.images).toHaveLength(2)
  await fleet.until(mission.id, 'done')
})

test('a landed mission shows its images, and a mission like it begins with them', async () => {
  const { fleet, project } = await scene()
  const ids: string[] = []
  for (const bytes of [PICTURES.png, PICTURES.webp])
    ids.push((await fleet.call<{ image: string }>('add_image', { data: bytes.toString('base64') })).image)
  const mission = await fleet.mission(project, 'Make the button look like this.', { images: ids })
  await fleet.until(mission.id, 'done')
  const { page, visit } = await aPerson(fleet)
  const images = page.getByRole('list', { name: 'Images' })
  const pictures = images.getByRole('img')
  await visit(`/missions/${mission.id}`)
  await expect.poll(() => pictures.count()).toBe(2)
  const drawn = () => pictures.evaluateAll(all => all.map(each => (each as { naturalWidth?: number }).naturalWidth))
  await expect.poll(drawn).toEqual([24, 24])
  await settled(page)
  await expectAccessible(page)
  await screenshot(page, 'images-mission-light')
  await page.getByRole('button', { name: 'Show image 1' }).click()
  await page.getByRole('dialog', { name: 'Image 1 · 24 × 24' }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')

  await visit(`/missions/new?like=${mission.id}`)
  await expect.poll(() => pictures.count()).toBe(2)
  await images.getByRole('button', { name: 'Remove Image 2' }).click()
  await drop(page, page.getByRole('textbox', { name: 'Task' }), {
    ...{ name: 'another.jpeg', bytes: PICTURES.jpeg, type: 'image/jpeg' },
  })
  await expect.poll(() => pictures.count()).toBe(2)
  await expectAccessible(page)
  await screenshot(page, 'images-new-mission-light')
  await page.getByRole('button', { name: 'Save as draft' }).click()
  await page.waitForURL(/\/missions\/(?!new)/)
  await expect.poll(() => pictures.count()).toBe(2)
})

test('a message to an agent has an image, and a template brings its own', async () => {
  const { fleet, project, folder } = await scene()
  const { image } = await fleet.call<{ image: string }>('add_image', { data: PICTURES.png.toString('base64') })
  const settings = { images: [image], landing: 'review' }
  const mission = await fleet.mission(project, 'Make the button look like this.', settings)
  const { sessions } = await fleet.until(mission.id, 'review')
  await fleet.call('save_template', { name: 'button', mission_id: mission.id })
  const { page, visit } = await aPerson(fleet)
  await visit(`/sessions/${sessions[0]!.id}`)
  const message = page.getByPlaceholder('Message the agent…')
  await message.fill('More like this one.')
  await drop(page, message, { name: 'other.jpeg', bytes: PICTURES.jpeg, type: 'image/jpeg' })
  const pictures = page.getByRole('list', { name: 'Images' }).getByRole('img')
  await expect.poll(() => pictures.count()).toBe(1)
  await settled(page)
  await expectAccessible(page)
  await screenshot(page, 'images-message-light')
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  const hash = createHash('sha256').update(PICTURES.jpeg).digest('hex')
  await eventually('it is shown', () => readFileSync(join(folder, 'seen.jsonl'), 'utf8').includes(hash) || undefined)
  await expect.poll(() => pictures.count()).toBe(0)

  await visit('/missions/new?template=button')
  await expect.poll(() => pictures.count()).toBe(1)
  expect(await pictures.first().getAttribute('src')).toMatch(/^data:image\/png;base64,/)
})

test('an agent that takes no images is named before the task is sent', async () => {
  const { fleet } = await scene()
  const { page, visit } = await aPerson(fleet)
  await visit('/')
  const task = page.getByRole('textbox', { name: 'Task' })
  await task.fill('echo x > x.txt')
  await drop(page, task, { name: 'a.png', bytes: PICTURES.png, type: 'image/png' })
  const pictures = page.getByRole('list', { name: 'Images' }).getByRole('img')
  await expect.poll(() => pictures.count()).toBe(1)
  const run = page.getByRole('button', { name: 'Run', exact: true })
  await expect.poll(() => run.isEnabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Plan' }).isEnabled()).toBe(true)

  await page.getByRole('combobox', { name: 'Agent' }).click()
  await page.getByRole('option', { name: 'Run a script (shell)' }).click()
  await page.getByRole('alert').getByText('Shell script takes no images.').waitFor()
  expect(await run.isEnabled()).toBe(false)
  await expectAccessible(page)
  await screenshot(page, 'images-refused-light')
  await page.getByRole('button', { name: 'Remove a.png' }).click()
  await expect.poll(() => run.isEnabled()).toBe(true)

  await visit('/missions/new')
  await page.getByRole('textbox', { name: 'Task' }).fill('Look at this.')
  await drop(page, page.getByRole('textbox', { name: 'Task' }), {
    ...{ name: 'a.png', bytes: PICTURES.png, type: 'image/png' },
  })
  await expect.poll(() => pictures.count()).toBe(1)
  await page.getByText('Your draft is kept in this browser, without its images.').waitFor()
  await page.getByRole('combobox', { name: 'Agent' }).click()
  await page.getByRole('option', { name: 'Shell script' }).click()
  await page.getByRole('alert').getByText('Shell script takes no images.').waitFor()
  expect(await page.getByRole('button', { name: 'Save as draft' }).isEnabled()).toBe(false)
})
