// Prepares a fresh clone: installs from the lock file if it differs from what is installed, then builds.
// Runs on any Node of the machine, before the pinned one exists.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const stamp = join(root, 'node_modules', '.installed-lock')
const pinnedNode = join(root, 'node_modules', 'node', 'bin', 'node')
const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')

function stop(sentence) {
  console.error(sentence)
  process.exit(1)
}

function must(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (error) stop(`${command} could not be started: ${error.message}`)
  if (status !== 0) stop(`Failed: ${[command, ...args].join(' ')}`)
}

function install() {
  console.log('Installing packages from the lock file…')
  const quietly = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
  // The lock file does not tell npm that better-sqlite3 includes its binaries, so npm would need a compiler.
  must('npm', ['ci', '--ignore-scripts', ...quietly])
  // The only script we need: it fetches Node itself.
  must('npm', ['rebuild', 'node', ...quietly])
  requirePinnedNode()
  writeFileSync(stamp, lock)
}

function requirePinnedNode() {
  const { stdout, error } = spawnSync(pinnedNode, ['--version'], { encoding: 'utf8' })
  const wanted = JSON.parse(lock).packages['node_modules/node'].version
  if (stdout?.trim() === `v${wanted}`) return
  const found = error ? 'it does not exist' : `it prints ${stdout.trim() || 'nothing'}`
  stop(
    `The Node ${wanted} of this repository (${pinnedNode}) cannot be used: ${found}.\n` +
      `Run "npm rebuild node", or delete node_modules and try again. If npm is set to run no scripts, allow them for the package "node".`,
  )
}

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) install()
else requirePinnedNode()
for (const script of ['build.mjs', 'build-web.mjs']) must(pinnedNode, [join(root, 'scripts', script)])
