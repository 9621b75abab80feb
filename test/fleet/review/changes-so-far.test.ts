import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { aScene } from '../../kit/scene.ts'

const LOOKING_ON = 4
const AFTERWARDS_MS = 300

test('the changes of a mission can be seen at any moment from its start until its worktree is gone', async () => {
  const { fleet, project } = await aScene()
  const refused = new Set<string>()
  let seen = 0
  for (let round = 0; round < 4; round++) {
    const { id } = await fleet.mission(project, 'for i in 1 2 3; do echo $i >>count.txt; sleep 0.1; done')
    let isOver = false
    const look = async () => {
      while (!isOver) {
        const answer = await fleet.http(`/api/missions/${id}/diff?text=false`)
        const said = await answer.text()
        if (answer.ok) seen++
        else if (!said.includes('has not run yet')) refused.add(`${answer.status} ${said}`)
      }
    }
    const looking = Promise.all(Array.from({ length: LOOKING_ON }, look))
    expect(await fleet.until(id, 'done', 'failed')).toMatchObject({ result: 'landed' })
    await pause(AFTERWARDS_MS)
    isOver = true
    await looking
  }
  expect([...refused]).toEqual([])
  expect(seen).toBeGreaterThan(0)
}, 120_000)
