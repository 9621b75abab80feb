import { expect, test } from 'vitest'
import { scaled } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

test('many missions at once land in a bare repository, and none mistakes another landing for a foreign hand', async () => {
  const { fleet, repo, project } = await aScene({ repository: { bare: true }, env: { FLEET_MAX_CONCURRENT: '6' } })
  const count = scaled(24, 120)
  const made = await Promise.all(
    Array.from({ length: count }, (_, n) => fleet.mission(project, `echo ${n} > file-${n}.txt`)),
  )
  for (const { id } of made)
    expect(await fleet.until(id, 'done', 'review', 'failed', 'needs_input')).toMatchObject({
      status: 'done',
      result: 'landed',
    })
  expect(await repo.filesOn('main')).toHaveLength(count + 1)
})
