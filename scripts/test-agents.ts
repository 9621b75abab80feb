// Runs the tests with real clients and prints client × scenario: npm run test:agents [-- part of a file's name …]
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Results, scenarioTable } from '../test/agents/table.ts'
import { CLIENT_TESTS } from '../test/clients/suite.ts'

const AT_MOST_MS = 30 * 60_000

const root = join(import.meta.dirname, '..')
const results = process.env.FLEET_TEST_RESULTS ?? join(root, 'test', 'results', 'agents.json')
const wanted = process.argv.slice(2)
const files = globSync(CLIENT_TESTS, { cwd: root }).filter(
  file => !wanted.length || wanted.some(part => file.includes(part)),
)

/** Runs the command that follows in a network namespace with only loopback. */
const CUT_OFF = ['unshare', '--net', '--', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']

/** How to keep the clients from reaching other machines; empty if this machine does not allow it. */
function cutOff(): string[] {
  const [command, ...args] = CUT_OFF as [string, ...string[]]
  const { status, stderr, error } = spawnSync(command, [...args, 'true'], { encoding: 'utf8' })
  const why = error?.message ?? stderr.trim()
  console.log(
    status === 0
      ? 'In a network namespace with loopback only: nothing can reach beyond it.'
      : `Not in a network namespace, which this machine does not allow: ${why}`,
  )
  return status === 0 ? CUT_OFF : []
}

function runTests(): Promise<number> {
  rmSync(results, { force: true })
  mkdirSync(dirname(results), { recursive: true })
  const [command, ...args] = [...cutOff(), join(root, 'node_modules', '.bin', 'vitest'), 'run', ...files]
  const vitest = spawn(command!, args, {
    cwd: root,
    env: { ...process.env, FLEET_TEST_CLIENTS: 'all', FLEET_TEST_RESULTS: results },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  let late = false
  const limit = setTimeout(() => {
    late = true
    console.error(`The tests took more than ${AT_MOST_MS / 60_000} minutes.`)
    vitest.kill('SIGTERM')
    setTimeout(() => vitest.kill('SIGKILL'), 20_000).unref()
  }, AT_MOST_MS)
  return new Promise(done =>
    vitest.on('close', code => {
      clearTimeout(limit)
      done(late ? 1 : (code ?? 1))
    }),
  )
}

if (!files.length) {
  console.error(`No client test matches ${wanted.join(' or ')}.`)
  process.exit(1)
}
const began = Date.now()
const code = await runTests()
if (!existsSync(results)) {
  console.error('The tests left no results.')
  process.exit(1)
}
const outcome: Results & { numPendingTests: number } = JSON.parse(readFileSync(results, 'utf8'))
console.log(`\n${scenarioTable(outcome)}\n`)
if (wanted.length) console.log('Only some tests ran: — also stands for scenarios of the others.')
console.log(`It took ${Math.round((Date.now() - began) / 1000)} s.`)
// The clients were just installed, so no test has a reason to be skipped.
if (outcome.numPendingTests) console.error(`${outcome.numPendingTests} tests were skipped.`)
process.exitCode = code || (outcome.numPendingTests ? 1 : 0)
