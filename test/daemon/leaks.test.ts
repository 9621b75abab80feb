import { existsSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { placesIn } from '../../src/git/index.ts'
import { descendants, identityOf } from '../../src/runner/processes.ts'
import { eventually, readJson, scaled } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

const COUNT = scaled(60, 500)
/** Code that is loaded and compiled on first use is not a leak. */
const WARM_UP = 40
const WITNESS = join(import.meta.dirname, '../kit/memory-witness.mjs')

/** The files that a process has open. One that it closes meanwhile has no name. */
function filesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).map(name => {
    try {
      return readlinkSync(join(folder, name))
    } catch {
      return ''
    }
  })
}

test(`after ${COUNT} missions a server holds no more than before them`, { timeout: 600_000 }, async () => {
  const { fleet, repo, project } = await aScene({ start: false })
  const memory = join(fleet.root, 'memory.json')
  const { child } = await fleet.start({ node: ['--expose-gc', '--import', WITNESS], env: { MEMORY_FILE: memory } })
  const server = identityOf(child.pid!)!
  await runMissions(WARM_UP, 'warm')
  const before = await atRest()
  await runMissions(COUNT, 'run')
  const after = await atRest()

  console.log(`${COUNT} missions: before ${JSON.stringify(before)}, after ${JSON.stringify(after)}`)
  expect(after.files).toBeLessThanOrEqual(before.files * 1.05)
  expect(after.worktrees).toBe(1)
  expect(after.branches).toBe(1)
  expect(after.held).toBeLessThanOrEqual(before.held * 1.05)

  async function runMissions(count: number, name: string): Promise<void> {
    const made = await Promise.all(
      Array.from({ length: count }, (_, n) => fleet.mission(project, `echo ${n} > ${name}-${n}.txt`)),
    )
    for (const { id } of made) await fleet.until(id, 'done')
  }

  /** Measures once the server has finished everything. */
  async function atRest() {
    const lines = async (...args: string[]) => (await repo.git(...args)).split('\n').length
    await eventually(
      'the server is at rest',
      // The one remaining process starts programs for the server.
      async () =>
        descendants(server).size === 1 &&
        placesIn(fleet.fleet.home.worktrees).length === 0 &&
        // The index of search is opened a moment after the first mission, and stays open.
        filesOf(child.pid!).some(file => file.endsWith('/search.db')) &&
        // A branch is deleted after its worktree.
        (await lines('for-each-ref', 'refs/heads')) === 1,
    )
    rmSync(memory, { force: true })
    child.kill('SIGUSR2')
    await eventually('the witness speaks', () => existsSync(memory))
    await eventually('no process is left', () => descendants(server).size === 1)
    return {
      ...readJson<{ held: number; rss: number }>(memory),
      files: filesOf(child.pid!).length,
      worktrees: await lines('worktree', 'list'),
      branches: await lines('for-each-ref', 'refs/heads'),
    }
  }
})
