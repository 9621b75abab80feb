import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

vi.mock('virtual:operations', () => ({ default: {} }))

/** These come with the program, never change, or are looked for on request, so no event names them. */
const NEVER_OLD = [
  ...[
    'list_integrations',
    'list_ready_made_workflows',
    'list_team_templates',
    'list_models',
    'read_artifact',
    'browse_folders',
  ],
  ...[
    'get_mission_image',
    'get_report',
    'list_roles',
    'preview_connection',
    'preview_schedule',
    'search',
    'search_repositories',
  ],
]

test('every answer that a page shows is refreshed by some event', async () => {
  const { STALE } = await import('./stale.ts')
  const folder = join(import.meta.dirname, '..')
  const sources = globSync('**/*.{ts,tsx}', { cwd: folder }).map(name => readFileSync(join(folder, name), 'utf8'))
  const asked = sources.flatMap(text => [...text.matchAll(/useAsk\(\s*'(\w+)'/g)].map(([, name]) => name!))
  expect(asked.length).toBeGreaterThan(50)
  expect([...new Set(asked)].filter(name => !(name in STALE) && !NEVER_OLD.includes(name))).toEqual([])
})

test.each(['retrying', 'went_on'])('running work is refreshed after the event %s', async kind => {
  const { STALE } = await import('./stale.ts')
  const event = { kind, mission_id: 'm', project_id: 'p', session_id: 's', data: {} } as never
  expect(STALE.list_running!(event, {} as never, undefined)).toBe(true)
  expect(STALE.system_status!(event, {} as never, undefined)).toBe(true)
  expect(STALE.get_mission!(event, { mission_id: 'm' }, undefined)).toBe(true)
})

test('what a team has spent is asked for again when something in its project is spent, and not otherwise', async () => {
  const { STALE } = await import('./stale.ts')
  const usage = (project_id: string) =>
    ({ kind: 'usage', mission_id: 'm', project_id, session_id: 's', data: {} }) as never
  const team = { project_id: 'p' } as never
  expect(STALE.get_team!(usage('p'), { team_id: 't' }, team)).toBe(true)
  expect(STALE.get_team!(usage('q'), { team_id: 't' }, team)).toBe(false)
})
