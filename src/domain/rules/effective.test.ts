import { expect, test } from 'vitest'
import { aMission, aProject } from '../samples.testkit.ts'
import { type Defaults, effective, held } from './effective.ts'

const DEFAULTS: Defaults = {
  ...{ agent: 'shell', model: null, engine: 'cli', timeoutSeconds: 100, maxRetries: 0, contextLimit: 90 },
  insisted: new Set(['timeoutSeconds', 'maxRetries']),
}

test('a mission comes before what the fleet was started with, that before the project, that before the rest', () => {
  const project = aProject({ agent: 'codex', timeout_seconds: 50, max_retries: 3 })
  const mission = aMission({ max_retries: 1 })
  expect(effective(mission, project, DEFAULTS)).toMatchObject({
    agent: 'codex',
    timeoutSeconds: 100,
    maxRetries: 1,
    contextLimit: 90,
  })
  expect(held(mission, project, DEFAULTS)).toEqual(
    expect.arrayContaining([
      { field: 'agent', value: 'codex', from: 'project' },
      { field: 'timeout_seconds', value: 100, from: 'default' },
      { field: 'max_retries', value: 1, from: 'mission' },
      { field: 'tool_preset', value: 'full', from: 'default' },
    ]),
  )
})
