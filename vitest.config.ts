import { globSync, readFileSync } from 'node:fs'
import { configDefaults, defineConfig } from 'vitest/config'
import { LEFT_OUT } from './test/clients/suite.ts'
import { LONG_TESTS } from './test/long.ts'

// better-sqlite3 crashes an older Node without a word.
if (Number.parseInt(process.versions.node, 10) < 22) {
  console.error(`The tests need Node 22; this is ${process.version}. Run them with npm test -- <path>, or npx vitest.`)
  process.exit(1)
}

const results = process.env.FLEET_TEST_RESULTS
const clients = process.env.FLEET_TEST_CLIENTS ?? 'claude'
if (!LEFT_OUT[clients])
  throw new Error(`FLEET_TEST_CLIENTS is ${clients}; it can be ${Object.keys(LEFT_OUT).join(', ')}.`)

/** Whoever names files, or wants full counts, gets all of them however long they take. */
const named = process.env.FLEET_TEST_SCALE === 'full' || process.argv.slice(3).some(arg => !arg.startsWith('-'))

/** Files that put something in a module's place: it must not have been loaded before. */
const mocking = globSync('src/**/*.test.ts', { cwd: import.meta.dirname }).filter(file =>
  readFileSync(`${import.meta.dirname}/${file}`, 'utf8').includes('vi.mock('),
)

/** Known to fail, each with its reason. `.ci/run` prints the list. */
const QUARANTINE: string[] = []
if (process.env.CI && QUARANTINE.length) console.log(`In quarantine: ${QUARANTINE.join(', ')}`)

export default defineConfig({
  test: {
    reporters: results ? ['default', 'json'] : ['default'],
    ...(results && { outputFile: results }),
    projects: [
      // A third of the time went into starting a process for each file of rules.
      { extends: true, test: { name: 'src', include: ['src/**/*.test.ts'], exclude: mocking, isolate: false } },
      { extends: true, test: { name: 'whole', include: ['{web/src,test}/**/*.test.ts', ...mocking] } },
    ],
    // Hundreds of servers killed and started again take minutes: npm run test:chaos.
    exclude: [
      ...configDefaults.exclude,
      ...LEFT_OUT[clients],
      ...(process.env.CI ? QUARANTINE : []),
      ...(named ? [] : LONG_TESTS),
      ...(process.env.FLEET_TEST_CHAOS ? [] : ['test/chaos/**']),
      // A browser takes minutes too: npm run test:browser.
      ...(process.env.FLEET_TEST_BROWSER ? [] : ['test/browser/**']),
    ],
    // Real processes and real git on two cores: more files at once only make each of them wait. A browser has both cores
    // to itself: some of its tests measure how long a person waits.
    maxWorkers: process.env.FLEET_TEST_BROWSER ? 1 : 2,
    maxConcurrency: 2,
    // In CI a failed test is tried once more, and the output says so: what is really broken fails twice.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
  },
})
