import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Project } from '../../src/domain/records/project.ts'
import { gitText } from '../../src/git/run.ts'
import { runGit } from '../../src/git/testkit.ts'
import type { MissionView } from '../../src/operations/views.ts'
import { ROOT, run } from '../kit/fleet.ts'

const PERSON = ['-c', 'user.name=A Person', '-c', 'user.email=person@example.com']

function aPerson() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-test-')))
  const env = { PATH: process.env.PATH!, HOME: root, TMPDIR: root }
  const fleet = (...args: string[]) => run(join(ROOT, 'bin/fleet.js'), args, { cwd: root, env })
  onTestFinished(async () => {
    await fleet('down', '--agents')
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })
  const asked = async <T>(...args: string[]): Promise<T> => JSON.parse((await fleet(...args, '--json')).stdout) as T
  const called = async <T>(name: string): Promise<T> => JSON.parse((await fleet('call', name)).stdout) as T
  return { root, fleet, asked, called }
}

test('the demo shows a whole life in the home of the person, and can be removed', { timeout: 120_000 }, async () => {
  const { root, fleet, asked } = aPerson()
  const { code, stdout, stderr } = await fleet('demo')
  expect(`${stdout}${stderr}`).toContain('7 of 8 missions landed on main.')
  expect(code).toBe(0)
  expect(stdout).toMatch(/retried +Hang the rudder/)
  expect(stdout).toMatch(/conflict +Paint the hull white/)
  expect(stdout).toMatch(/in review +Write the ship's log/)

  const { projects } = await asked<{ projects: Project[] }>('project', 'list')
  const [project] = projects
  expect(project).toMatchObject({ name: 'Demo', sample: true, path: join(root, '.flotilla/projects/demo') })
  const subjects = await gitText(project!.path, ['log', '--format=%s', 'main'])
  expect(subjects.split('\n')).toHaveLength(8)
  expect(await gitText(project!.path, ['show', 'main:ship.txt'])).toContain('blue with a white stripe')
  expect(await gitText(project!.path, ['status', '--porcelain'])).toBe('')

  // Asking again shows the same one.
  const again = await asked<{ project: Project; missions: MissionView[] }>('demo')
  expect(again.project.id).toBe(project!.id)
  expect(again.missions.map(({ title }) => title)).toEqual([
    'Lay the keel',
    'Step the mast',
    'Sew the sails',
    'Hang the rudder',
    'Paint the hull blue',
    'Paint the hull white',
    'Assemble the ship',
    "Write the ship's log",
  ])
  expect(again.missions.at(-1)!.status).toBe('review')
  expect(again.missions.map(({ sessions }) => sessions)).toEqual([1, 1, 1, 2, 1, 2, 1, 1])

  expect((await fleet('demo', '--remove')).stdout).toContain('Removed the project Demo.')
  expect(existsSync(project!.path)).toBe(false)
  expect((await asked<{ projects: Project[] }>('project', 'list')).projects).toEqual([])
  expect((await fleet('demo', '--remove')).stdout).toContain('There is no demo to remove.')
})

test('the removal leaves a commit that a person made before the last landing', { timeout: 120_000 }, async () => {
  const { fleet, asked } = aPerson()
  const { project, missions } = await asked<{ project: Project; missions: MissionView[] }>('demo')
  await runGit(project.path, [...PERSON, 'commit', '--quiet', '--allow-empty', '-m', 'mine'])
  expect((await fleet('land', missions.at(-1)!.id, '--yes')).code).toBe(0)
  await expect.poll(() => gitText(project.path, ['log', '-1', '--format=%s']), WITHIN).toBe("Write the ship's log")
  await expect.poll(async () => (await asked<MissionView>('show', missions.at(-1)!.id)).status, WITHIN).toBe('done')
  expect((await fleet('demo', '--remove')).stdout).toContain(
    `Its repository may hold work of yours, so it stays: ${project.path}`,
  )
  expect(await gitText(project.path, ['log', '--format=%s', 'main'])).toContain('mine')
})
const WITHIN = { timeout: 30_000, interval: 200 }

test.each<[string, (path: string) => unknown]>([
  ['a file', path => writeFileSync(join(path, 'mine.txt'), 'keep me\n')],
  [
    'a commit on no branch',
    async path => {
      await runGit(path, ['checkout', '--quiet', '--detach'])
      await runGit(path, [...PERSON, 'commit', '--quiet', '--allow-empty', '-m', 'mine'])
    },
  ],
  ['a worktree', path => runGit(path, ['worktree', 'add', '--quiet', '--detach', '../wt-mine'])],
  ['a hook', path => writeFileSync(join(path, '.git/hooks/pre-commit'), '#!/bin/sh\n')],
])('the removal leaves a repository with %s of a person', { timeout: 120_000 }, async (_, put) => {
  const { fleet, asked, called } = aPerson()
  await fleet('pause')
  const first = await called<Project>('create_sample_project')
  await put(first.path)
  for (const { id } of (await asked<{ missions: MissionView[] }>('mission', 'list')).missions)
    await fleet('mission', 'cancel', id)
  const { stdout } = await fleet('demo', '--remove')
  expect(stdout).toContain('Removed the project Demo.')
  expect(stdout).toContain(first.path)
  expect(existsSync(first.path)).toBe(true)
  const second = await called<Project>('create_sample_project')
  expect(second.path).toBe(`${first.path}-2`)
})

test('the team of the demo divides the work, writes, reviews and lands, and can be removed', {
  timeout: 180_000,
}, async () => {
  const { root, fleet, asked } = aPerson()
  const { code, stdout, stderr } = await fleet('demo', '--team')
  expect(`${stdout}${stderr}`).toContain('6 tasks, 4 of them landed; ')
  expect(code).toBe(0)
  expect(stdout).toMatch(/rex → captain: The parts are good, but/)
  expect(stdout).toMatch(/captain → operator: Your ship is built/)

  const { projects } = await asked<{ projects: Project[] }>('project', 'list')
  const [project] = projects
  expect(project).toMatchObject({ name: 'Demo team', sample: 'team', path: join(root, '.flotilla/projects/demo-team') })
  const path = project!.path
  const log = await gitText(path, ['log', '--reverse', '--format=%s|%(trailers:key=Fleet-Member,valueonly)', 'main'])
  const landed = log.split('\n').filter(Boolean)
  expect(landed).toHaveLength(5)
  expect(landed[1]).toBe('Lay the keel|ann (shipyard)')
  // Two work at once, so either may be the first.
  expect(landed.slice(2, 4).sort()).toEqual(['Sew the sails|ann (shipyard)', 'Step the mast|ben (shipyard)'])
  expect(landed[4]).toBe('Paint and assemble the ship|ben (shipyard)')
  const ship = ['colour: blue', '        |', '       /|\\', '      /_|_\\', '  \\____________/', '']
  expect(await gitText(path, ['show', 'main:ship.txt'])).toBe(ship.join('\n').trimEnd())
  expect(await gitText(path, ['status', '--porcelain'])).toBe('')

  // Asking again shows the same one, and tells the team nothing twice.
  const again = await asked<{ project: Project; messages: { body: string }[] }>('demo', '--team')
  expect(again.project.id).toBe(project!.id)
  expect(again.messages.filter(({ body }) => body.startsWith('Build a small ship'))).toHaveLength(1)

  expect((await fleet('demo', '--remove')).stdout).toBe('Removed the project Demo team.\n')
  expect(existsSync(path)).toBe(false)
  expect((await asked<{ teams: object[] }>('team', 'list')).teams).toEqual([])
})
