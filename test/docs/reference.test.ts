import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { abilityTable } from '../../scripts/agents-page.ts'
import { referencePages } from '../../scripts/reference.ts'
import { aScene } from '../kit/scene.ts'

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

test.each(Object.entries(referencePages()))('%s says what the code says (otherwise: npm run docs)', (path, text) => {
  expect(read(path)).toBe(text)
})

test('docs/agents.md says of every agent what the command says of it', async () => {
  const { fleet } = await aScene({ start: false })
  const { stdout } = await fleet.fleetCommand(['agents', '--json'])
  const { agents } = JSON.parse(stdout) as { agents: Parameters<typeof abilityTable>[0] }
  expect(read('docs/agents.md')).toContain(abilityTable(agents))
})
