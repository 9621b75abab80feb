import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { groupsFolder } from '../../../src/runner/groups.ts'
import { type Identity, identityOf, isAlive } from '../../../src/runner/processes.ts'
import { escapes } from '../../kit/escapes.ts'
import { eventually } from '../../kit/fleet.ts'
import { SANDBOX_WORKS } from '../../kit/sandbox.ts'
import { aScene } from '../../kit/scene.ts'

const ESCAPES = 20
const ENDED = ['done', 'failed', 'cancelled', 'needs_input', 'review']

/** Processes started with these two words. */
const sleepersOf = (words: string): string[] =>
  readdirSync('/proc').filter(pid => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `${words.replace(' ', '\0')}\0`
    } catch {
      return false
    }
  })

/** Waits until all of them exist. */
async function strays(file: string): Promise<Identity[]> {
  const pids = await eventually('all have escaped', () => {
    const found = existsSync(file) ? readFileSync(file, 'latin1').trim().split('\n') : []
    return Promise.resolve(found.length === ESCAPES ? found.map(Number) : undefined)
  })
  return pids.map(pid => identityOf(pid)!)
}

describe.skipIf(!groupsFolder())('where doctor says that processes are ended whole', () => {
  test('it says so', async () => {
    const { fleet } = await aScene({ start: false })
    expect((await fleet.fleetCommand(['doctor'])).stdout).toMatch(/processes\s+complete/)
  })

  test('what left its parents, its environment and its folder ends with a session that is cancelled', async () => {
    const { fleet, project } = await aScene()
    const file = join(fleet.root, 'pids')
    const { id } = await fleet.mission(project, `${escapes(ESCAPES, file)}; sleep 600`)
    const found = await strays(file)
    await fleet.call('cancel_mission', { mission_id: id })
    await fleet.until(id, 'cancelled')
    expect(found.filter(isAlive)).toEqual([])
  })

  test('and with one that ended by itself, also after the server that started it was killed', async () => {
    const { fleet, project, gate } = await aScene()
    const file = join(fleet.root, 'pids')
    const hold = gate('hold')
    const { id } = await fleet.mission(project, `${escapes(ESCAPES, file)}; ${hold.wait}`)
    const found = await strays(file)
    await eventually('it waits', async () => hold.reached() && (await fleet.show(id)).sessions[0]?.status === 'running')
    await fleet.kill()
    await fleet.start()
    hold.open()
    await fleet.until(id, ...ENDED)
    expect(found.filter(isAlive)).toEqual([])
  })

  test('and with a preview and a check', async () => {
    const { fleet, project, repo } = await aScene()
    const [previewed, checked] = [join(fleet.root, 'previewed'), join(fleet.root, 'checked')]
    await fleet.call('update_project', {
      project_id: project.id,
      checks: [{ name: 'escapes', command: escapes(ESCAPES, checked) }],
      preview_command: `${escapes(ESCAPES, previewed)}; sleep 600`,
    })
    const { id } = await fleet.mission(project, 'echo made >made.txt', { landing: 'auto' })
    await fleet.until(id, ...ENDED)
    expect((await strays(checked)).filter(isAlive)).toEqual([])
    expect(await repo.readOn('main', 'made.txt')).toBe('made')
    await fleet.call('start_preview', { mission_id: id })
    const found = await strays(previewed)
    await fleet.call('stop_preview', { mission_id: id })
    await eventually('the preview has ended', async () => found.filter(isAlive).length === 0)
  })
})

describe.skipIf(!SANDBOX_WORKS)('in the sandbox', () => {
  test('all of it ends with the session, by the first process of its namespace', async () => {
    const { fleet, project } = await aScene()
    const mark = `sleep 1000.${process.pid}`
    const line = escapes(ESCAPES, '/dev/null').replace('sleep 1000', mark)
    const { id } = await fleet.mission(project, `${line}; sleep 600`, { tool_preset: 'implement' })
    const running = () => sleepersOf(mark)
    await eventually('all have escaped', async () => running().length === ESCAPES)
    await fleet.call('cancel_mission', { mission_id: id })
    await fleet.until(id, 'cancelled')
    expect(running()).toEqual([])
  })
})
