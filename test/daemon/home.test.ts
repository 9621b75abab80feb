import { spawnSync } from 'node:child_process'
import { mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { aRepository } from '../../src/git/testkit.ts'
import { aFleet } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

test('a home has one server: a second one says who holds it, and a person gets the link of the first', async () => {
  const { fleet } = await aScene()
  expect(await fleet.fleetCommand(['up'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/http:\/\/127\.0\.0\.1:\d+\/sign-in/),
  })
  const second = await fleet.fleetCommand(['up', '--into-log'])
  expect(second.code).toBe(1)
  expect(second.stderr).toMatch(/is held by process \d+ since .*, at http:\/\/127\.0\.0\.1:\d+/)
  expect((await fleet.http('/health')).status).toBe(200)
})

test('a store newer than the program is refused by server and command', async () => {
  const { fleet } = await aScene({ start: false })
  const file = fleet.fleet.home.storeFile
  const store = new Database(file)
  store.pragma('user_version = 999')
  store.close()
  for (const args of [['up'], ['mission', 'list'], ['run', 'true']]) {
    const { code, stderr } = await fleet.fleetCommand(args)
    expect(code).toBe(1)
    expect(stderr).toMatch(/999/)
  }
})

test('the token and everything beside it are for the owner only', async () => {
  const { fleet } = await aScene()
  const { home } = fleet.fleet
  for (const name of ['token', 'key', 'id']) expect(statSync(join(home.path, name)).mode & 0o077).toBe(0)
  for (const folder of [home.path, home.blobs, home.worktrees]) expect(statSync(folder).mode & 0o077).toBe(0)
})

test('a project must be an absolute path inside the allowed folders, links followed', async () => {
  const fleet = await aFleet()
  const [allowed, elsewhere] = [await aRepository(), await aRepository()]
  try {
    await fleet.start({ env: { FLEET_ALLOWED_REPOS: `/no/such/folder:${allowed.root}` } })
    const link = join(allowed.root, 'link-out')
    symlinkSync(elsewhere.path, link)
    mkdirSync(join(`${allowed.root}-beside`))
    const create = async (path: string) => {
      const response = await fleet.http('/api/projects', { method: 'POST', body: JSON.stringify({ name: 'p', path }) })
      return { status: response.status, body: (await response.json()) as { error?: { message: string } } }
    }
    expect(await create('relative/path')).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('must be absolute') } },
    })
    for (const path of [
      elsewhere.path,
      link,
      `${allowed.root}-beside`,
      `${allowed.path}/../../${elsewhere.root.split('/').at(-1)}/repo`,
    ]) {
      expect(await create(path), path).toMatchObject({
        status: 403,
        body: { error: { message: expect.stringContaining('FLEET_ALLOWED_REPOS') } },
      })
    }
    expect((await create(allowed.path)).status).toBe(200)
    expect((await create(allowed.path)).status).toBe(409)
  } finally {
    spawnSync('rm', ['-rf', `${allowed.root}-beside`])
    await Promise.all([fleet.remove(), allowed.remove(), elsewhere.remove()])
  }
})

test('what is in the environment of the server reaches neither an agent, nor a log, nor an event', async () => {
  const canary = 'canary-3f9a1c'
  const { fleet, project } = await aScene({ env: { SECRET_CANARY: canary } })
  const { id } = await fleet.mission(project, 'env > seen.txt; echo looked')
  const mission = await fleet.until(id, 'done')
  const { text } = await fleet.call<{ text: string }>('diff_session', { session_id: mission.sessions[0]!.id })
  expect(text).toContain('FLEET_TASK_ID')
  expect(text).not.toContain(canary)
  const everywhere = spawnSync('grep', ['-rlF', canary, fleet.fleet.home.path], { encoding: 'utf8' })
  expect(everywhere.stdout).toBe('')
})

test('a project may name variables that its agents see', async () => {
  const { fleet, project } = await aScene({ env: { WANTED: 'yes please' }, project: { environment: ['WANTED'] } })
  const { id } = await fleet.mission(project, 'echo "$WANTED" > seen.txt')
  await fleet.until(id, 'done')
  const { text } = await fleet.call<{ text: string }>('diff_mission', { mission_id: id })
  expect(text).toContain('+yes please')
})

test('a server goes on when nobody reads what it prints', async () => {
  const { fleet, project } = await aScene({ start: false })
  const { child } = await fleet.start()
  child.stdout!.destroy()
  child.stderr!.destroy()
  const { id } = await fleet.mission(project, 'echo x > x.txt')
  await fleet.until(id, 'done')
  const gone = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  expect(await gone).toBe(0)
})
