import { expect, test } from 'vitest'
import { Plan } from '../domain/records/plan.ts'
import { NOW } from '../domain/samples.testkit.ts'
import { aFleet } from '../fleet/fleet.testkit.ts'
import { put } from '../fleet/records.ts'
import { askOf } from './ask.ts'

test('a list of plans in one status is as long as it is asked for, however many others lie between', async () => {
  const fleet = aFleet()
  for (let n = 0; n < 12; n++)
    await fleet.commit('commit.wish', {
      changes: [
        put(
          'plans',
          Plan.parse({
            id: `plan${n}`,
            project_id: 'p1',
            mission_id: `m${n}`,
            goal: { inline: 'x' },
            status: n % 4 === 0 ? 'proposed' : 'rejected',
            created_at: NOW,
            updated_at: NOW,
          }),
          'absent',
        ),
      ],
    })
  const ask = askOf(fleet)
  const listed = await ask<{ plans: { id: string }[]; cursor?: string }>('list_plans', { status: 'proposed', limit: 2 })
  const rest = await ask<{ plans: { id: string }[] }>('list_plans', {
    status: 'proposed',
    limit: 2,
    cursor: listed.cursor,
  })
  expect([...listed.plans, ...rest.plans].map(({ id }) => id).sort()).toEqual(['plan0', 'plan4', 'plan8'])
  expect(listed.plans).toHaveLength(2)
})
