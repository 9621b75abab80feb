import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

/** Whether a git process with these words in its command line works on this repository. */
function gitIsAt(root: string, ...words: string[]): boolean {
  return readdirSync('/proc').some(pid => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      const cwd = readFileSync(`/proc/${pid}/environ`, 'latin1') + command
      return (
        /^\d+$/.test(pid) &&
        words.every(word => command.includes(word)) &&
        command.startsWith('git') &&
        cwd.includes(root)
      )
    } catch {
      return false
    }
  })
}

test('a server killed while git moves the checkout leaves that to its end, and the next one goes on from there', async () => {
  const { fleet, repo, project } = await aScene({ repository: { files: { '.gitattributes': '*.bin filter=slow\n' } } })
  await repo.git('config', 'filter.slow.smudge', 'sleep 0.7; echo downloading >&2; cat')
  await repo.git('config', 'filter.slow.clean', 'cat')
  const { id } = await fleet.mission(project, 'for i in 1 2 3; do echo $i > $i.bin; done; echo 0 > 0.txt')
  await eventually('git is at it', () => gitIsAt(fleet.root, '--ff-only'))
  await fleet.kill()
  await fleet.start()

  const mission = await fleet.until(id, 'done', 'needs_input', 'failed', 'review')
  expect(mission).toMatchObject({ status: 'done', result: 'landed' })
  expect(await repo.git('status', '--porcelain')).toBe('')
  expect(await repo.read('3.bin')).toBe('3\n')
})

test('a server killed while the base is merged into a branch in conflict goes on without committing markers', async () => {
  const { fleet, repo, project, gate } = await aScene({
    repository: { files: { 'shared.txt': 'nobody\n', '.gitattributes': 'shared.txt merge=slow\n' } },
  })
  await repo.git('config', 'merge.slow.driver', 'sleep 1; git merge-file -q %A %O %B')
  const held = gate('both')
  const { id } = await fleet.mission(
    project,
    `if [ "$FLEET_REASON" = conflict ]; then grep -v '^[<=>]' shared.txt > s && mv s shared.txt; else ${held.wait}; echo agent > shared.txt; fi`,
  )
  await eventually('the agent runs', () => held.reached())
  await repo.commit('by the person', { 'shared.txt': 'person\n' })
  held.open()
  await eventually('git is at it', () => gitIsAt(fleet.root, 'merge', '--no-stat'))
  await fleet.kill()
  await fleet.start()

  const mission = await fleet.until(id, 'done', 'needs_input', 'failed', 'review')
  expect(mission).toMatchObject({ status: 'done', result: 'landed' })
  expect(await repo.readOn('main', 'shared.txt')).not.toMatch(/<<<<|>>>>/)
  expect((await repo.readOn('main', 'shared.txt')).split('\n').toSorted()).toEqual(['agent', 'person'])
})
