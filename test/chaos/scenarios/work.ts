import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { damageRecord } from '../../kit/damage.ts'
import { eventually } from '../../kit/fleet.ts'
import { landed, type Scenario } from './scenario.ts'

/** An agent that commits itself. Its commits are taken in. */
const AS_AGENT = 'git -c user.name=agent -c user.email=agent@example.com'

export const chain: Scenario = {
  name: 'setup, copied file, checks and a dependent',
  repository: { files: { '.gitignore': '.env\ndeps/\n', 'README.md': '# A project\n' } },
  before: world => world.repo.write('.env', 'SECRET=1\n'),
  async play(world) {
    const project = await world.project({
      copy_files: ['.env'],
      setup_command: world.command('setup', 'mkdir -p deps && echo ready > deps/installed'),
      checks: [
        { name: 'whole', command: world.command('check', 'test -e .env && test -e deps/installed && test -e a.txt') },
      ],
    })
    const a = await world.mission(
      project,
      'make a',
      world.script('test -e deps/installed && cat .env > /dev/null && echo a > a.txt'),
    )
    const b = await world.mission(
      project,
      'make b',
      world.script(`test -e a.txt && echo b > b.txt && git add b.txt && ${AS_AGENT} commit -qm b`),
      {
        depends_on: [a.id],
      },
    )
    await world.fleet.until(b.id, 'done')
    return [landed(a.id), landed(b.id)]
  },
}

export const conflict: Scenario = {
  name: 'two missions change one line',
  repository: { files: { 'shared.txt': 'nobody\n' } },
  async play(world) {
    const project = await world.project({
      checks: [{ name: 'clean', command: world.command('check', '! grep -q "<<<<" shared.txt') }],
    })
    const names = ['ann', 'bob']
    const resolve = 'if [ "$FLEET_REASON" = conflict ]; then printf "ann\\nbob\\n" > shared.txt; else'
    const together = names.map(name => world.gate(name).wait).join('; ')
    const missions = await Promise.all(
      names.map(name =>
        world.mission(
          project,
          name,
          world.script(`${resolve} : > '${world.gate(name).file}'; ${together}; echo ${name} > shared.txt; fi`),
        ),
      ),
    )
    const ends = await Promise.all(missions.map(({ id }) => world.fleet.until(id, 'done')))
    return ends.map(({ id, conflicts }) => landed(id, 1 + conflicts)).sort((a, b) => a.sessions - b.sessions)
  },
}

export const cancel: Scenario = {
  name: 'cancel of an agent that will not end',
  async play(world) {
    const project = await world.project()
    const here = world.gate('here')
    const stubborn = `trap '' TERM; echo half > half.txt; setsid sh -c 'trap "" TERM; while :; do sleep 0.1; done' & : > '${here.file}'; while :; do sleep 0.1; done`
    const mission = await world.mission(
      project,
      'never ends',
      `echo "start $FLEET_SESSION $$" >> '${world.log}'\n${stubborn}`,
    )
    await eventually('the agent at work', () => existsSync(here.file))
    await world.ask('POST', `/api/missions/${mission.id}/cancel`)
    const { branch } = await world.fleet.until(mission.id, 'cancelled')
    if ((await world.repo.readOn(branch!, 'half.txt')) !== 'half') throw new Error('its work was not kept')
    return [{ id: mission.id, status: 'cancelled', landings: 0, sessions: 1 }]
  },
}

export const tidied: Scenario = {
  name: 'a worktree whose days are over, and one that waits for the next mission',
  async play(world) {
    const { warm, trash } = world.fleet.fleet.home
    const entry = join(warm, 'p', 'e')
    mkdirSync(join(entry, 'tree'), { recursive: true })
    const project = await world.project({ keep_worktrees_days: 0 })
    const mission = await world.mission(project, 'fails', world.script('echo half > half.txt; exit 1'))
    const { sessions } = await world.fleet.until(mission.id, 'failed')
    await eventually('its worktree is removed', () => !existsSync(sessions[0]!.worktree!))
    await eventually('its work is kept', async () => {
      const { branch } = await world.ask<{ branch: string }>('GET', `/api/missions/${mission.id}`)
      return branch.startsWith('refs/fleet/') && (await world.repo.readOn(branch, 'half.txt')) === 'half'
    })
    await world.ask('POST', '/api/clean', { warm: true })
    await eventually('nothing is left of it', () => !existsSync(entry) && readdirSync(trash).length === 0)
    return [{ id: mission.id, status: 'failed', landings: 0, sessions: 1 }]
  },
}

export const counted: Scenario = {
  name: 'many events, and a start that cannot be',
  async before(world) {
    await world.repo.git('branch', 'side')
    const events = Array.from({ length: 80 }, () => ({
      kind: 'unpaused' as const,
      time: world.fleet.fleet.now(),
      actor: 'person',
    }))
    for (let i = 0; i < 5; i++) await world.fleet.fleet.store.commit({ changes: [], events })
  },
  async play(world) {
    const project = await world.project({ base_branch: 'side' })
    await world.repo.git('branch', '-D', 'side')
    const mission = await world.mission(project, 'nowhere to start', world.script('echo here > here.txt'))
    await world.fleet.until(mission.id, 'failed')
    await world.repo.git('branch', 'side')
    await world.ask('POST', `/api/missions/${mission.id}/retry`)
    await world.fleet.until(mission.id, 'done')
    return [landed(mission.id)]
  },
  base: 'side',
}

export const damaged: Scenario = {
  name: 'a record that cannot be read until somebody mends it',
  async play(world) {
    const project = await world.project({ landing: 'review' })
    const broken = await world.mission(project, 'damaged', world.script('echo a > a.txt'))
    await world.fleet.until(broken.id, 'review')
    const mend = await damageRecord(world.fleet, 'missions', broken.id)
    const stuck = async () => JSON.stringify((await world.ask<{ faults: object }>('GET', '/api/system/status')).faults)
    await eventually('it is named', async () => {
      await world.ask('GET', '/api/missions')
      return (await stuck()).includes(broken.id)
    })
    const other = await world.mission(project, 'beside it', world.script('echo b > b.txt'))
    await world.fleet.until(other.id, 'review')
    await mend()
    await world.ask('POST', '/api/system/faults/retry')
    await eventually('nothing is stuck', async () => (await stuck()) === '[]')
    for (const { id } of [broken, other]) {
      await world.land(id)
      await world.fleet.until(id, 'done')
    }
    return [landed(broken.id), landed(other.id)]
  },
}

/** Each leaves what the next one must not find, and needs what the setup command made. */
export const warmed: Scenario = {
  name: 'worktrees kept warm with a cache',
  env: { FLEET_WARM_FROM: '1' },
  repository: { files: { '.gitignore': 'deps/\n*.log\n', 'package-lock.json': '{}\n', 'src/a.txt': 'a\n' } },
  async play(world) {
    const project = await world.project({
      setup_command: world.command('setup', 'mkdir -p deps && echo ready > deps/installed'),
      warm: ['deps'],
    })
    const left = 'planted.log deps/planted'
    const none = left.split(' ').map(path => `test ! -e ${path}`)
    const clean = [...none, 'test "$(cat src/a.txt)" = a', 'grep -q ready deps/installed', '! git config core.pager']
    const plant = 'echo x > planted.log; touch deps/planted; chmod 777 src; git config core.pager false'
    const ids: string[] = []
    for (const name of ['one', 'two', 'three']) {
      const script = world.script(`${clean.join(' && ')} && echo ${name} > ${name}.txt && { ${plant}; }`)
      ids.push((await world.mission(project, name, script, { depends_on: ids.slice(-1) })).id)
    }
    await world.fleet.until(ids.at(-1)!, 'done')
    const { trash } = world.fleet.fleet.home
    await eventually('the trash empty', () => readdirSync(trash).length === 0)
    return ids.map(id => landed(id))
  },
}
