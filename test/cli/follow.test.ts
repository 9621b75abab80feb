import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { eventually, NODE, ROOT } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

test('the settings a server was started with hold for commands typed in another shell', async () => {
  const { fleet, repository } = await aScene({ start: false })
  const [elsewhere, allowed] = [await repository(), await repository()]
  await fleet.start({ env: { FLEET_ALLOWED_REPOS: allowed.root, FLEET_MAX_CONCURRENT: '2' } })
  const run = (cwd: string) =>
    fleet.fleetCommand(['run', '--agent', 'shell', '--landing', 'auto', 'echo x > x.txt'], {
      cwd,
      env: { FLEET_ALLOWED_REPOS: '', FLEET_MAX_CONCURRENT: '9' },
    })
  const refused = await run(elsewhere.path)
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('FLEET_ALLOWED_REPOS')])
  expect((await run(allowed.path)).code).toBe(0)
  const status = await fleet.fleetCommand(['status', '--json'], { env: { FLEET_MAX_CONCURRENT: '9' } })
  expect(JSON.parse(status.stdout).max_concurrent).toBe(2)
})

test('run inside a bare repository, while it is paused: says so once, and lands when it may', async () => {
  const { fleet, repo, project } = await aScene({ repository: { bare: true } })
  await fleet.call('pause', { project_id: project.id })
  const child = spawn(NODE, [join(ROOT, 'bin/fleet.js'), 'run', '--agent', 'shell', 'echo x > x.txt'], {
    cwd: repo.path,
    env: { PATH: process.env.PATH!, HOME: fleet.root, FLEET_HOME: fleet.fleet.home.path },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out = text(child.stdout)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', chunk => {
    said += chunk
  })
  await eventually('the reason', () => said.includes('is queued: project test is paused') || undefined)
  await fleet.call('unpause', { project_id: project.id })
  expect(await new Promise(resolve => child.once('exit', resolve))).toBe(0)
  expect(said.match(/is paused/g)).toHaveLength(1)
  expect(await out).toContain('on main (1 file changed)')
  expect(await repo.filesOn('main')).toContain('x.txt')
})

test('an undo that is followed tells by its exit whether it came about', async () => {
  const { fleet, repo, project } = await aScene({ repository: { files: { 'list.txt': '1\n' } } })
  const { id } = await fleet.mission(project, 'echo 2 > list.txt')
  await fleet.until(id, 'done')
  const undo = () => fleet.fleetCommand(['mission', 'undo', id, '--follow'])
  await repo.write('list.txt', 'typing')
  const refused = await undo()
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('not undone: Uncommitted files')])
  expect(refused.stderr).toContain(`Try: fleet undo ${id}`)

  await repo.git('checkout', '--', 'list.txt')
  expect((await undo()).code).toBe(0)
  expect(await repo.read('list.txt')).toBe('1\n')
})
