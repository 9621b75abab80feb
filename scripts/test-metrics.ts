// Tests the dashboard and the alerts with a real Prometheus, Debian's: npm run test:metrics
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PROMETHEUS_FOLDER, programOf } from '../test/kit/prometheus.ts'

const root = join(import.meta.dirname, '..')

/** Unpacked only: installing it would start a server of its own. It has 19 MB, and needs no other package. */
function fetchPrometheus(): void {
  if (programOf('prometheus') && programOf('promtool')) return
  const packages = `${PROMETHEUS_FOLDER}-package`
  mkdirSync(packages, { recursive: true })
  spawnSync('apt-get', ['download', '-qq', 'prometheus'], { cwd: packages, stdio: 'inherit' })
  const [file] = globSync('prometheus_*.deb', { cwd: packages })
  if (file) spawnSync('dpkg-deb', ['-x', file, PROMETHEUS_FOLDER], { cwd: packages, stdio: 'inherit' })
  rmSync(packages, { recursive: true, force: true })
}

fetchPrometheus()
if (!programOf('prometheus'))
  console.log("Debian's package prometheus cannot be had here, so the tests that need it are skipped.")
const { status } = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), ['run', 'test/deploy'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, FLEET_TEST_PROMETHEUS: '1' },
})
process.exitCode = status ?? 1
