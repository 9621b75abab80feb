import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { aRepository, type TestRepository } from '../src/git/testkit.ts'
import { aFleet, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, median, ms, preciseNow } from './figure.ts'
import { elapsed, output } from './processes.ts'

const PACKAGES = 300
const FILES_EACH = 30

/** A Node project that installs its packages before each agent: a first start, and the starts after it. */
export const packages: Bench = async () => {
  const { install, first, later } = await measurePackages(PACKAGES, 5)
  return [
    {
      figure: `${PACKAGES} packages, first start: dispatch → process`,
      measured: ms(first),
      floor: `${ms(install)} (\`npm ci\`)`,
      demanded: '—',
      met: true,
    },
    {
      figure: `${PACKAGES} packages, starts 2 to 6 without reinstalling, p50`,
      measured: `${ms(median(later))}, ${(first / median(later)).toFixed(0)} times as fast`,
      floor: `${ms(install)} (\`npm ci\`)`,
      demanded: 'less than `npm ci`',
      met: median(later) < install,
    },
  ]
}

/** It fails if a later start installs again. */
export async function measurePackages(
  count: number,
  starts: number,
): Promise<{ install: number; first: number; later: number[] }> {
  const repository = await aNodeProject(count)
  const fleet = await aFleet({ env: { FLEET_WARM_FROM: '1' } })
  try {
    const install = await elapsed(() => output('npm', ['ci', ...QUIET, '--prefix', repository.path]))
    await fleet.start()
    const settings = { setup_command: `npm ci ${QUIET.join(' ')}`, warm: ['node_modules'] }
    const project = await fleet.project(repository.path, settings)
    const first = await start(fleet, project, 0, count)
    const later: number[] = []
    for (let i = 1; i <= starts; i++) later.push(await start(fleet, project, i, count))
    return { install, first, later }
  } finally {
    await fleet.remove()
    await repository.remove()
  }
}

const QUIET = ['--offline', '--no-audit', '--no-fund', '--loglevel=error']

/** Every package is a folder of the repository, packed as npm packs it, so that no registry is asked. */
async function aNodeProject(count: number): Promise<TestRepository> {
  const repository = await aRepository({ files: { '.gitignore': 'node_modules\n' } })
  const dependencies: Record<string, string> = {}
  mkdirSync(join(repository.path, 'vendor'))
  for (let i = 0; i < count; i++) {
    const name = `package-${i}`
    const folder = join(repository.root, name, 'package')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0' }))
    for (let file = 0; file < FILES_EACH; file++)
      writeFileSync(join(folder, `${file}.js`), `// ${i} ${file}\n`.repeat(60))
    execFileSync('tar', ['-czf', join(repository.path, 'vendor', `${name}.tgz`), '-C', join(folder, '..'), 'package'])
    dependencies[name] = `file:vendor/${name}.tgz`
  }
  writeFileSync(join(repository.path, 'package.json'), JSON.stringify({ name: 'app', version: '1.0.0', dependencies }))
  execFileSync('npm', ['install', ...QUIET], { cwd: repository.path, stdio: 'ignore' })
  await repository.commit('packages')
  return repository
}

async function start(fleet: TestFleet, project: { id: string }, i: number, count: number): Promise<number> {
  const script = `date +%s%N\ntest -e node_modules/package-${count - 1}/0.js && echo ${i} >made-${i}`
  const { id } = await fleet.mission(project, script, { auto_dispatch: false })
  const asked = preciseNow()
  await fleet.call('dispatch_mission', { mission_id: id })
  for (;;) {
    const { status, status_reason, sessions } = await fleet.show(id)
    if (status === 'done') {
      const printed = readFileSync(join(fleet.fleet.home.session(sessions[0]!.id), 'agent-1', 'stdout'), 'utf8')
      if (i > 0 && !sessions[0]!.setup_skipped) throw new Error('the setup command ran again')
      return Number(printed.split('\n', 1)[0]) / 1e6 - asked
    }
    if (status === 'failed' || status === 'review') throw new Error(`a mission did not land: ${status_reason?.text}`)
    await pause(20)
  }
}
