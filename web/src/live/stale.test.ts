import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

vi.mock('virtual:operations', () => ({ default: {} }))

/** Shipped with the program, or read from disk when somebody asks: no event tells of them. */
const NEVER_OLD = ['list_integrations', 'list_ready_made_workflows', 'list_models', 'read_artifact']

test('every answer that a page shows is made old by some event', async () => {
  const { STALE } = await import('./stale.ts')
  const folder = join(import.meta.dirname, '..')
  const sources = globSync('**/*.{ts,tsx}', { cwd: folder }).map(name => readFileSync(join(folder, name), 'utf8'))
  const asked = sources.flatMap(text => [...text.matchAll(/useAsk\(\s*'(\w+)'/g)].map(([, name]) => name!))
  expect(asked.length).toBeGreaterThan(50)
  expect([...new Set(asked)].filter(name => !(name in STALE) && !NEVER_OLD.includes(name))).toEqual([])
})
