import { defineConfig } from 'vitest/config'

// better-sqlite3 crashes an older Node without a word.
if (Number.parseInt(process.versions.node, 10) < 22) {
  console.error(`The tests need Node 22; this is ${process.version}. Run them with npm test -- <path>, or npx vitest.`)
  process.exit(1)
}

const results = process.env.FLEET_TEST_RESULTS

export default defineConfig({
  test: {
    reporters: results ? ['default', 'json'] : ['default'],
    ...(results && { outputFile: results }),
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Real processes and real git on two cores: more files at once only make each of them wait.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
