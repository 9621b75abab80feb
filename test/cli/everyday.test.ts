import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gitText } from '../../src/git/run.ts'
import { aScene } from '../kit/scene.ts'

test('fleet alone shows the state and what to do next, before and after the first mission', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'review' } })
  const before = await fleet.fleetCommand([])
  expect(before.code).toBe(0)
  expect(before.stdout).toMatch(/^The fleet is up at http/)
  expect(before.stdout).toMatch(/Next\n {2}fleet run .*\n {2}fleet demo /)
  const { id } = await fleet.mission(project, 'echo 1 > a.txt')
  await fleet.until(id, 'review')
  expect((await fleet.fleetCommand([])).stdout).toMatch(/For you +1: fleet inbox[\s\S]*Next\n {2}fleet inbox/)
  expect(JSON.parse((await fleet.fleetCommand(['--json'])).stdout)).toMatchObject({ needs_you: 1 })
})

test('land --yes lands exactly what it shows; without it a script must name the candidate', async () => {
  const { fleet, project, repo } = await aScene({ project: { landing: 'review' } })
  const { id } = await fleet.mission(project, 'echo 1 > a.txt')
  const { candidate } = await fleet.until(id, 'review')
  const unnamed = await fleet.fleetCommand(['land', id])
  expect(unnamed.code).toBe(4)
  expect(unnamed.stderr).toContain(`fleet land ${id.slice(0, 6)} --commit ${candidate!.commit.slice(0, 12)}`)
  const yes = await fleet.fleetCommand(['land', id, '--yes', '--follow'])
  expect([yes.code, yes.stderr]).toEqual([0, ''])
  expect(yes.stdout).toContain(`candidate ${candidate!.commit.slice(0, 12)}\n  added a.txt +1 -0`)
  expect((await fleet.show(id)).landed).toMatchObject({ candidate: candidate!.commit })
  expect(await gitText(repo.path, ['show', 'main:a.txt'])).toBe('1')
  expect((await fleet.fleetCommand(['undo', id, '--follow'])).code).toBe(0)
  expect(await gitText(repo.path, ['ls-tree', '--name-only', 'main'])).not.toContain('a.txt')
})

test('open hands the browser a page that only this user can read, and prints the link where there is no browser', async () => {
  const { fleet } = await aScene()
  const bin = join(fleet.root, 'screen')
  const seen = join(fleet.root, 'opened')
  mkdirSync(bin)
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${seen}'\n`)
  chmodSync(join(bin, 'xdg-open'), 0o755)
  const PATH = `${bin}:${process.env.PATH}`

  const opened = await fleet.fleetCommand(['open'], { env: { PATH, DISPLAY: ':1' } })
  expect(opened.code).toBe(0)
  const page = readFileSync(seen, 'utf8').trim()
  expect(page).toMatch(/\/open\.html$/)
  expect(statSync(page).mode & 0o777).toBe(0o600)
  const link = /url=(\S+)">/.exec(readFileSync(page, 'utf8'))![1]!
  expect((await fetch(link)).status).toBe(200)
  expect(new URL(link).pathname).toBe('/sign-in')

  rmSync(seen)
  const printed = await fleet.fleetCommand(['open'], { env: { PATH, DISPLAY: '', WAYLAND_DISPLAY: '', BROWSER: '' } })
  expect(printed.stdout).toMatch(/^http:\S+\/sign-in\?token=\S+\n$/)
  expect(() => statSync(seen)).toThrow()

  writeFileSync(join(bin, 'xdg-open'), '#!/bin/sh\nexit 3\n')
  const failed = await fleet.fleetCommand(['open'], { env: { PATH, DISPLAY: ':1' } })
  expect(failed.stdout).toMatch(/^http:\S+\/sign-in\?token=\S+\n$/)
  const json = JSON.parse((await fleet.fleetCommand(['open', '--json'], { env: { PATH, DISPLAY: ':1' } })).stdout)
  expect(json).toMatchObject({ opened: false, sign_in_url: expect.stringContaining('/sign-in?token=') })
})

test('without a coding agent, run says how to get one and how to run a script', async () => {
  const { fleet, repo } = await aScene()
  const bare = { PATH: '/usr/bin:/bin' }
  const { code, stderr } = await fleet.fleetCommand(['run', 'Write a test'], { cwd: repo.path, env: bare })
  expect(code).toBe(4)
  expect(stderr).toMatch(/fleet doctor shows how[\s\S]*To run a script instead: --agent shell/)
})

test('the inbox names mission and project, wraps, and has what failed', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'review' } })
  const asks = `fleet call ask_human '{"question": "Which colour shall the hull have?"}'; echo red > a.txt`
  const question = await fleet.mission(project, asks, { title: 'Paint the hull' })
  await fleet.until(question.id, 'needs_input')
  const failed = await fleet.mission(project, 'exit 1', { title: 'Hang the rudder', max_retries: 0 })
  await fleet.until(failed.id, 'failed')
  const { stdout, stderr, code } = await fleet.fleetCommand(['inbox'])
  const { name } = await fleet.call<{ name: string }>('get_project', { project_id: project.id })
  expect(code).toBe(3)
  expect(stdout).toMatch(
    new RegExp(`Questions \\(1\\)\\n\\w{6}  Paint the hull · ${name}\\n  Which colour shall the hull have\\?\\n`),
  )
  expect(stdout).toMatch(
    new RegExp(`Recent failures \\(1\\)\\n${failed.id.slice(0, 6)}  Hang the rudder · ${name}\\n  Exited`),
  )
  expect(stdout.match(/Paint the hull/g)).toHaveLength(1)
  expect(stderr).toMatch(/fleet answer \w{6} "<answer>"/)
})
