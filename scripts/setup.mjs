// Makes a fresh clone ready: installs from the lock file when it is newer than what is installed, then builds.
// Runs on whatever Node the machine has, before the pinned one exists.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const stamp = join(root, 'node_modules', '.installed-lock')
const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')

function must(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (error) console.error(`${command}: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  console.log('Installing packages from the lock file…')
  must('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  writeFileSync(stamp, lock)
}
must(join(root, 'node_modules', '.bin', 'node'), [join(root, 'scripts', 'build.mjs')])
