import { expect, test } from 'vitest'
import { current, put } from '../../src/fleet/records.ts'
import { eventually } from '../kit/fleet.ts'
import { call } from '../kit/inside.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

test('a session of another machine is said to be there, until that machine is given up', async () => {
  const { fleet, project, gate } = await aScene()
  const { id } = await fleet.mission(project, `${gate('sails').wait}; echo x > x.txt`, { title: 'Sew the sails' })
  await eventually('it is at work', () => gate('sails').reached())
  const { sessions } = await fleet.until(id, 'running')
  await fleet.kill()
  const { value, version } = await current(fleet.fleet, 'sessions', sessions[0]!.id)
  const moved = { ...value, host: 'another-host' }
  await fleet.fleet.commit('commit.session-noted', { changes: [put('sessions', moved, version)] })
  await fleet.start()

  const { page, visit } = await aPerson(fleet)
  const note = page.getByRole('note').filter({ hasText: 'On host another-host: 1 session, left alone here.' })
  await note.getByText('fleet host claim another-host', { exact: true }).waitFor()
  await page.getByText('on host another-host', { exact: false }).first().waitFor()
  await expectAccessible(page)
  await screenshot(page, 'elsewhere-light')
  await visit(`/sessions/${value.id}`)
  await note.waitFor()
  await fleet.fleetCommand(['host', 'claim', 'another-host'])
  await note.waitFor({ state: 'detached' })
  gate('sails').open()
  await fleet.until(id, 'done')
})

test('a question that is answered elsewhere says so to whoever is about to answer it', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(project, `${call('ask_human', { question: 'Which colour?' })}; echo x > x.txt`)
  const { session_id } = await fleet.until(id, 'needs_input')
  const { page, visit } = await aPerson(fleet)
  await visit(`/sessions/${session_id}`)
  const answer = page.getByLabel('Your answer')
  await answer.fill('Perhaps')
  expect(await fleet.fleetCommand(['answer', id, 'Blue'])).toMatchObject({ code: 0 })
  await page.getByText('This question was answered elsewhere, by you.', { exact: true }).waitFor()
  await answer.waitFor({ state: 'detached' })
  await fleet.until(id, 'done')
})
