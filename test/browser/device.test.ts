import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LAUNCHER } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

test('a terminal elsewhere signs in with a code, works with ordinary commands, and signs out', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'review' } })
  const { person, invitation } = await fleet.call<{ person: { id: string }; invitation: { url: string } }>(
    'invite_person',
    { name: 'Ada', grants: [{ role: 'team-lead', project_id: project.id }] },
  )
  const ada = await aPerson(fleet, { link: invitation.url, expects: /404/ })

  // A machine without a home of its own.
  const HOME = join(fleet.root, 'elsewhere')
  mkdirSync(HOME)
  const env = { PATH: process.env.PATH, HOME }
  const login = spawn(LAUNCHER, ['login', ada.url, '--name', 'ada@laptop'], { env, cwd: HOME })
  onTestFinished(() => void login.kill())
  let said = ''
  for (const stream of [login.stdout, login.stderr]) stream.on('data', part => (said += part))
  await expect.poll(() => said, { timeout: 20_000 }).toMatch(/code [A-Z]{4}-[A-Z]{4}/)
  const code = /code ([A-Z]{4}-[A-Z]{4})/.exec(said)![1]!
  // Who lists the processes of the machine sees no secret.
  expect(readFileSync(`/proc/${login.pid}/cmdline`, 'utf8')).not.toMatch(/flt_/)

  await ada.visit('/device?code=BBBB-CCCC')
  await ada.page.getByRole('button', { name: 'Continue' }).click()
  await ada.page.getByText('No terminal waits with this code').waitFor()
  await ada.visit(`/device?code=${code}`)
  await ada.page.getByRole('button', { name: 'Continue' }).click()
  await ada.page.getByText('ada@laptop').waitFor()
  await ada.page.getByText('127.0.0.1', { exact: true }).waitFor()
  await expectAccessible(ada.page)
  await screenshot(ada.page, 'device')
  await ada.page.getByRole('button', { name: 'Allow' }).click()
  await ada.page.getByText('The terminal is signed in.').waitFor()
  await expect.poll(() => login.exitCode, { timeout: 20_000 }).toBe(0)
  expect(said).toContain(`Signed in to ${ada.url} as Ada.`)
  expect(said).not.toContain('flt_')
  const file = join(HOME, '.config/flotilla/logins.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)

  const far = async (...args: string[]) => {
    const child = spawn(LAUNCHER, args, { env, cwd: HOME })
    let out = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', part => (out += part))
    return { code: await new Promise<number>(resolve => child.on('close', code => resolve(code ?? -1))), out }
  }
  expect((await far('whoami')).out).toMatch(/^Ada: team-lead in test\nat http/)
  const ran = await far('run', 'echo far > far.txt', '--agent', 'shell', '--project', 'test')
  expect(ran.code, ran.out).toBe(3)
  const { missions } = await fleet.call<{ missions: { id: string }[] }>('list_missions', {})
  await fleet.until(missions[0]!.id, 'review')
  expect((await far('list')).out).toContain('review')
  const landed = await far('land', missions[0]!.id, '--yes')
  expect(landed.code, landed.out).toBe(0)
  expect((await fleet.until(missions[0]!.id, 'done')).landed).toMatchObject({ approved: { by: `person:${person.id}` } })
  expect(await far('backup', 'x.tar.gz')).toMatchObject({ code: 4, out: expect.stringContaining('files of a home') })
  expect(await far('user', 'list')).toMatchObject({ code: 4, out: expect.stringContaining('people.manage') })

  const { token } = JSON.parse(readFileSync(file, 'utf8')).logins[0] as { token: string }
  const me = () => fetch(`${ada.url}/api/me`, { headers: { authorization: `Bearer ${token}` } })
  expect((await me()).status).toBe(200)
  expect(await far('logout')).toMatchObject({ code: 0 })
  expect((await me()).status).toBe(401)
  expect(() => statSync(file)).toThrow('ENOENT')
  expect(readFileSync(join(fleet.fleet.home.path, 'logs/server.log'), 'utf8')).not.toContain('flt_')
}, 120_000)
