// Makes a fresh clone ready: installs from the lock file when it differs from what is installed, then builds.
// Runs on whatever Node the machine has, before the pinned one exists.
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
  if (status !== 0) stop(`This failed: ${[command, ...args].join(' ')}`)
}

function install() {
  console.log('Installing packages from the lock file…')
  const quietly = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
  // From a lock file npm does not know that better-sqlite3 brings its binaries along, and would call for a compiler.
  must('npm', ['ci', '--ignore-scripts', ...quietly])
  // The one script that is needed: it fetches Node itself.
  must('npm', ['rebuild', 'node', ...quietly])
  requirePinnedNode()
  writeFileSync(stamp, lock)
}

function requirePinnedNode() {
  const { stdout, error } = spawnSync(pinnedNode, ['--version'], { encoding: 'utf8' })
  const wanted = JSON.parse(lock).packages['node_modules/node'].version
  if (stdout?.trim() === `v${wanted}`) return
  const found = error ? 'it is not there' : `it says ${stdout.trim() || 'nothing'}`
  stop(
    `The Node ${wanted} that this repository brings along (${pinnedNode}) cannot be used: ${found}.\n` +
      `Run "npm rebuild node", or delete node_modules and try again. If npm is set to run no scripts, allow them for the package "node".`,
  )
}

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) install()
else requirePinnedNode()
for (const script of ['build.mjs', 'build-web.mjs']) must(pinnedNode, [join(root, 'scripts', script)])
