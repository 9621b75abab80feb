import { expect, test } from 'vitest'
import type { Mission } from '../records/mission.ts'
import type { LandingPolicy } from '../records/project.ts'
import { type LandingWay, landingWay } from './landing.ts'

const approval = { candidate: 'c1', by: 'person', at: '2026-01-01T00:00:00.000Z', past: null } as Mission['approval']

test.each<[LandingPolicy | null, LandingPolicy, LandingWay, LandingWay]>([
  [null, 'auto', 'merge', 'merge'],
  [null, 'review', 'merge', 'merge'],
  [null, 'never', 'keep', 'merge'],
  [null, 'pull-request', 'pull-request', 'pull-request'],
  ['auto', 'pull-request', 'merge', 'merge'],
  ['review', 'pull-request', 'pull-request', 'pull-request'],
  ['never', 'pull-request', 'keep', 'pull-request'],
  ['pull-request', 'auto', 'pull-request', 'pull-request'],
  ['pull-request', 'never', 'pull-request', 'pull-request'],
  ['never', 'auto', 'keep', 'merge'],
  ['auto', 'never', 'merge', 'merge'],
])(
  'a mission that says %s in a project that says %s: %s, and %s once a person approved',
  (landing, policy, by, after) => {
    expect(landingWay({ landing, approval: null }, { landing: policy })).toBe(by)
    expect(landingWay({ landing, approval }, { landing: policy })).toBe(after)
  },
)
