// Runs the tests that npm test leaves out because they take long: npm run test:long
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { LONG_TESTS } from '../test/long.ts'

const root = join(import.meta.dirname, '..')
const files = globSync(LONG_TESTS, { cwd: root })
const { status } = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), ['run', ...files], {
  cwd: root,
  stdio: 'inherit',
})
process.exitCode = status ?? 1
