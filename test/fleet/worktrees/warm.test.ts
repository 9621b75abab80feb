import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { aRepository, type TestRepository } from '../../../src/git/testkit.ts'
import { aFleet, eventually, type TestFleet } from '../../kit/fleet.ts'
import { aSmallDisk, canMount } from '../../kit/small-disk.ts'

/** Worktrees of any size are kept here, so that small repositories show what large ones get. */
const ANY_SIZE = { FLEET_WARM_FROM: '1' }
const FILES = { '.gitignore': 'deps/\n*.log\n', 'package-lock.json': '{"a":1}\n', 'src/a.txt': 'a\n' }

let fleet: TestFleet
let repo: TestRepository

beforeEach(async () => {
  repo = await aRepository({ files: FILES })
  fleet = await aFleet({ env: ANY_SIZE })
})
afterEach(async () => {
  await fleet.remove()
  await repo.remove()
})

const warmIn = (project: { id: string }): string[] => {
  const folder = join(fleet.fleet.home.warm, project.id)
  return existsSync(folder) ? readdirSync(folder) : []
}
const readyIn = (project: { id: string }): string[] =>
  warmIn(project).filter(name => existsSync(join(fleet.fleet.home.warm, project.id, name, 'ready.json')))

const landed = (id: string) => fleet.until(id, 'done', 'failed', 'needs_input')

/** The number of the folder on disk tells whether it is the same one. */
const STAMP = 'stat -c %i .'
const printedBy = async (id: string): Promise<string> => {
  const { sessions } = await fleet.show(id)
  return readFileSync(join(fleet.fleet.home.session(sessions.at(-1)!.id), 'agent-1', 'stdout'), 'utf8')
}

describe('the worktree of a finished mission', () => {
  test('is used again at the path of the next one, which finds nothing of the first', async () => {
    await fleet.start()
    const project = await fleet.project(repo.path)
    const plant = 'echo x >secret.log; mkdir -p deps/x; chmod 700 src; git config alias.x "!touch ran"'
    const first = await fleet.mission(project, `${STAMP}\n${plant}\necho one >one.txt`)
    expect(await landed(first.id)).toMatchObject({ status: 'done', result: 'landed' })
    await eventually('it is ready again', () => readyIn(project).length >= 1)
    const look = `${STAMP}\npwd\nfind . -path ./.git -prune -o -print | LC_ALL=C sort\ngit status --porcelain --ignored\ngit config alias.x`
    const ids: string[] = []
    for (let i = 0; i < 3; i++) {
      const { id } = await fleet.mission(project, `${look}\necho ${i} >again-${i}.txt`)
      expect(await landed(id)).toMatchObject({ status: 'done', result: 'landed' })
      ids.push(id)
    }
    const seen = await Promise.all(ids.map(printedBy))
    const inodes = [await printedBy(first.id), ...seen].map(text => text.split('\n')[0])
    expect(new Set(inodes).size).toBeLessThan(inodes.length)
    expect(new Set(seen.map(text => text.split('\n')[1])).size).toBe(ids.length)
    const again = seen.length - 1
    const expected = ['.', './.gitignore', ...Array.from({ length: again }, (_, i) => `./again-${i}.txt`)]
    const rest = ['./one.txt', './package-lock.json', './src', './src/a.txt', '']
    expect(seen[again]!.split('\n').slice(2)).toEqual([...expected, ...rest])
  })

  test('is removed if it is smaller than worth keeping, or nothing is set aside for it', async () => {
    await fleet.start({ env: { FLEET_WARM_DISK: '0' } })
    const project = await fleet.project(repo.path)
    const { id } = await fleet.mission(project, 'echo one >one.txt')
    await landed(id)
    const { worktrees, trash } = fleet.fleet.home
    await eventually('it is gone', () => readdirSync(join(worktrees, project.id)).length === 0)
    await eventually('the trash is empty', () => readdirSync(trash).length === 0)
    expect(warmIn(project)).toEqual([])
  })

  test('is not kept while a process has something in it open', async () => {
    await fleet.start()
    const project = await fleet.project(repo.path)
    const gate = join(fleet.root, 'gate')
    const { id } = await fleet.mission(project, `until test -e ${gate}; do sleep 0.05; done\necho one >one.txt`)
    const { sessions } = await fleet.until(id, 'running')
    const worktree = sessions[0]!.worktree!
    await eventually('its files are there', () => existsSync(join(worktree, 'src')))
    // Whoever has a folder open can write there after it was moved. Here it is this process.
    const held = openSync(join(worktree, 'src'), 'r')
    writeFileSync(gate, '')
    await landed(id)
    await eventually('it is gone', () => !existsSync(worktree))
    const at = readlinkSync(`/proc/self/fd/${held}`)
    closeSync(held)
    expect(at).not.toContain(fleet.fleet.home.warm)
  })
})

test('what a person saves while the worktree waits to be laid aside is not lost', async () => {
  await fleet.start()
  const project = await fleet.project(repo.path)
  const gate = join(fleet.root, 'gate')
  const { id } = await fleet.mission(project, `until test -e ${gate}; do sleep 0.05; done\necho one >one.txt`)
  const { sessions } = await fleet.until(id, 'running')
  const worktree = sessions[0]!.worktree!
  await eventually('its files are there', () => existsSync(join(worktree, 'src')))
  const held = openSync(join(worktree, 'src'), 'r')
  writeFileSync(gate, '')
  await landed(id)
  writeFileSync(join(worktree, 'precious.txt'), 'mine')
  closeSync(held)
  await eventually('it is known', async () => (await fleet.show(id)).sessions[0]!.left_behind?.includes('precious.txt'))
  expect(readFileSync(join(worktree, 'precious.txt'), 'utf8')).toBe('mine')
})

test('a link that an agent leaves costs nothing that it leads to', async () => {
  await fleet.start()
  const outside = join(fleet.root, 'outside')
  mkdirSync(join(outside, 'deps'), { recursive: true })
  writeFileSync(join(outside, 'deps/precious'), 'mine')
  const project = await fleet.project(repo.path, {
    setup_command: 'mkdir -p deps/in; touch deps/in/a',
    warm: ['deps/in'],
  })
  const links = `rm -rf deps; ln -s ${outside}/deps deps; ln -s ${outside} out.log`
  const { id } = await fleet.mission(project, `${links}\necho one >one.txt`)
  await landed(id)
  await eventually('it is ready again', () => readyIn(project).length >= 1)
  await eventually('the trash is empty', () => readdirSync(fleet.fleet.home.trash).length === 0)
  expect(readFileSync(join(outside, 'deps/precious'), 'utf8')).toBe('mine')
})

describe('the setup command', () => {
  const project = (more: object = {}) =>
    fleet.project(repo.path, {
      setup_command: `echo ran >>${join(fleet.root, 'setups')}; mkdir -p deps && echo installed >deps/lib`,
      warm: ['deps'],
      ...more,
    })
  const runs = (): number => readFileSync(join(fleet.root, 'setups'), 'utf8').split('\n').length - 1
  const mission = async (at: { id: string }, script = 'cat deps/lib >out.txt; date +%N >>out.txt', more = {}) => {
    const { id } = await fleet.mission(at, script, more)
    const end = await landed(id)
    expect(end).toMatchObject({ status: 'done', result: 'landed' })
    await eventually('a worktree is ready', () => readyIn(at).length >= 1)
    return end.sessions[0]!
  }

  test('does not run where its caches were kept, until a lock file changes', async () => {
    await fleet.start()
    const at = await project()
    expect(await mission(at)).toMatchObject({ setup_skipped: false })
    expect(await mission(at)).toMatchObject({ setup_skipped: true })
    expect(runs()).toBe(1)
    await repo.commit('another library', { 'package-lock.json': '{"a":2}\n' })
    expect(await mission(at)).toMatchObject({ setup_skipped: false })
    expect(runs()).toBe(2)
    await fleet.call('update_project', { project_id: at.id, setup_inputs: ['src/a.txt'] })
    await mission(at)
    expect(await mission(at)).toMatchObject({ setup_skipped: true })
    await repo.commit('an input', { 'src/a.txt': 'b\n' })
    expect(await mission(at)).toMatchObject({ setup_skipped: false })
  })

  test('runs again if an agent changed what it made; what an agent added is gone', async () => {
    await fleet.start()
    const at = await project()
    await mission(at)
    expect(await mission(at, 'echo planted >deps/planted; date +%N >a.txt')).toMatchObject({ setup_skipped: true })
    const clean = 'test ! -e deps/planted && date +%N >b.txt'
    expect(await mission(at, clean)).toMatchObject({ setup_skipped: true })
    await mission(at, 'echo evil >deps/lib; date +%N >c.txt')
    const after = await mission(at, 'grep -q installed deps/lib && date +%N >d.txt')
    expect(after).toMatchObject({ setup_skipped: false })
  })

  test('runs again if it made something outside the caches, and if no input is known', async () => {
    await fleet.start()
    const elsewhere = `echo ran >>${join(fleet.root, 'setups')}; mkdir -p deps; touch deps/lib more.log`
    const at = await project({ setup_command: elsewhere })
    const script = 'test -e more.log && date +%N >out.txt'
    for (let i = 0; i < 3; i++) expect(await mission(at, script)).toMatchObject({ setup_skipped: false })
    await fleet.call('update_project', { project_id: at.id, setup_inputs: ['no-such-file'] })
    expect(await mission(at, script)).toMatchObject({ setup_skipped: false })
  })

  test('what the setup command of unreviewed work made is not kept, also if its fork lands', async () => {
    await repo.commit('a script', { 'setup.sh': 'mkdir -p deps; echo good >deps/lib\n' })
    await fleet.start()
    const at = await project({ setup_command: 'sh setup.sh', landing: 'review' })
    const evil = "echo 'mkdir -p deps; echo evil >deps/lib' >setup.sh"
    const back = 'git checkout --quiet HEAD~1 -- setup.sh; echo fixed >fixed.txt'
    const first = await fleet.mission(at, `if grep -q evil setup.sh; then ${back}; else ${evil}; fi`)
    await fleet.until(first.id, 'review')
    const fork = await fleet.call<{ id: string }>('fork_mission', { mission_id: first.id, fresh: true })
    await fleet.until(fork.id, 'review')
    await fleet.land(fork.id)
    await fleet.until(fork.id, 'done')
    await eventually('a worktree is ready', () => readyIn(at).length >= 1)
    const next = await fleet.mission(at, 'cat deps/lib')
    await fleet.until(next.id, 'done', 'review', 'failed', 'needs_input')
    expect(await printedBy(next.id)).toBe('good\n')
  })

  test('runs again with another value of a variable, or if it wrote hooks or copied files', async () => {
    await repo.write('.env.log', 'A=1\n')
    await fleet.start({ env: { MODE: 'one' } })
    const at = await project({ environment: ['MODE'], copy_files: ['.env.log'] })
    await mission(at)
    expect(await mission(at)).toMatchObject({ setup_skipped: true })
    await repo.write('.env.log', 'A=22\n')
    expect(await mission(at)).toMatchObject({ setup_skipped: false })
    await fleet.stop()
    await fleet.start({ env: { MODE: 'two' } })
    expect(await mission(at)).toMatchObject({ setup_skipped: false })
    const hooks = 'mkdir -p deps; touch deps/lib; echo exit >$(git rev-parse --git-path hooks)/pre-commit'
    await fleet.call('update_project', { project_id: at.id, setup_command: hooks })
    for (let i = 0; i < 2; i++) expect(await mission(at, 'date +%N >a.txt')).toMatchObject({ setup_skipped: false })
  })

  test('what a mission made from unreviewed work is not kept', async () => {
    await fleet.start()
    const at = await project()
    await repo.git('checkout', '--quiet', '-b', 'other')
    await repo.commit('not on the base branch', { 'src/b.txt': 'b\n' })
    await repo.git('checkout', '--quiet', 'main')
    await mission(at, 'date +%N >a.txt', { base_ref: 'other' })
    expect(await mission(at)).toMatchObject({ setup_skipped: false })
  })
})

describe('ahead of a mission', () => {
  test('a project that is added gets a worktree, and more if a person asks', async () => {
    const env = { FLEET_WARM_FROM: '2' }
    await fleet.start({ env })
    const project = await fleet.project(repo.path)
    await eventually('one is ready', () => readyIn(project).length === 1)
    const { code, stdout } = await fleet.fleetCommand(['project', 'warm', 'test', '--count', '3'], { env })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Ready: \d\. Being prepared: \d\./)])
    await eventually('three are ready', () => readyIn(project).length === 3)
    const { id } = await fleet.mission(project, 'echo one >one.txt')
    await landed(id)
    await fleet.call('delete_project', { project_id: project.id })
    await eventually('nothing of a deleted project stays', () => warmIn(project).length === 0)
  })

  test('a sparse checkout has its folders, and lands beside what it does not have', async () => {
    await repo.commit('folders', {
      'web/a.txt': 'a\n',
      'server/a.txt': 'a\n',
      'server/deep/b.txt': 'b\n',
      'docs/c.txt': 'c\n',
    })
    await fleet.start()
    const project = await fleet.project(repo.path, { sparse: ['server/deep'] })
    const look = 'find . -path ./.git -prune -o -type f -print | LC_ALL=C sort'
    const first = await fleet.mission(project, `${look}\necho more >server/deep/more.txt\necho new >docs.txt`)
    await landed(first.id)
    const files = ['./.gitignore', './package-lock.json', './server/a.txt', './server/deep/b.txt']
    expect((await printedBy(first.id)).split('\n')).toEqual([...files, ''])
    const second = await fleet.mission(
      project,
      `${look}\ngit add -A; echo x >web/b.txt 2>/dev/null || { mkdir web; echo x >web/b.txt; }`,
      { sparse: ['web'] },
    )
    await landed(second.id)
    expect((await printedBy(second.id)).split('\n')).toEqual([
      './.gitignore',
      './docs.txt',
      './package-lock.json',
      './web/a.txt',
      '',
    ])
    const third = await fleet.mission(project, look)
    await fleet.until(third.id, 'done', 'failed', 'needs_input', 'review')
    expect((await printedBy(third.id)).split('\n')).toEqual([
      ...files.slice(0, 1),
      './docs.txt',
      ...files.slice(1),
      './server/deep/more.txt',
      '',
    ])
    expect(await repo.filesOn('main')).toEqual([
      '.gitignore',
      'docs.txt',
      'docs/c.txt',
      'package-lock.json',
      'server/a.txt',
      'server/deep/b.txt',
      'server/deep/more.txt',
      'src/a.txt',
      'web/a.txt',
      'web/b.txt',
    ])
  })
})

describe('trouble', () => {
  test('a server that is killed hands out nothing half-cleaned, and the next one goes on with it', async () => {
    await fleet.start()
    const project = await fleet.project(repo.path)
    const { id } = await fleet.mission(project, 'echo one >one.txt')
    await landed(id)
    await eventually('one is ready', () => readyIn(project).length >= 1)
    await fleet.kill()
    const { warm } = fleet.fleet.home
    for (const name of readyIn(project)) {
      rmSync(join(warm, project.id, name, 'ready.json'))
      writeFileSync(join(warm, project.id, name, 'tree/half'), 'half')
      rmSync(join(warm, project.id, name, 'tree/src'), { recursive: true })
    }
    mkdirSync(join(warm, project.id, 'begun/tree'), { recursive: true })
    mkdirSync(join(warm, 'no-such-project/x/tree'), { recursive: true })
    await fleet.start()
    const next = await fleet.mission(project, 'test ! -e half && cat src/a.txt >two.txt')
    expect(await landed(next.id)).toMatchObject({ status: 'done', result: 'landed' })
    await eventually(
      'the rest is gone',
      () => !warmIn(project).includes('begun') && !existsSync(join(warm, 'no-such-project')),
    )
  })

  test('a pool that somebody deletes costs time only', async () => {
    await fleet.start()
    const project = await fleet.project(repo.path)
    for (let i = 0; i < 3; i++) {
      const { id } = await fleet.mission(project, `echo ${i} >file-${i}.txt`)
      expect(await landed(id)).toMatchObject({ status: 'done', result: 'landed' })
      rmSync(fleet.fleet.home.warm, { recursive: true, force: true })
    }
  })

  test('twenty missions at once never share a worktree', async () => {
    await fleet.start({ env: { FLEET_MAX_CONCURRENT: '20' } })
    const project = await fleet.project(repo.path)
    for (let round = 0; round < 2; round++) {
      await fleet.call('pause')
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          fleet.mission(
            project,
            `test ! -e mine.log && echo ${i} >mine.log && ${STAMP} && sleep 1 && echo ${i} >r${round}-${i}.txt && grep -qx ${i} mine.log`,
          ),
        ),
      )
      await fleet.call('unpause')
      // They land one after the other, so each may take its time from the one before.
      for (const { id } of made) expect(await landed(id)).toMatchObject({ status: 'done', result: 'landed' })
    }
  }, 240_000)

  test.skipIf(!canMount)('on a full disk missions start as soon as there is room', async () => {
    const disk = aSmallDisk(60)
    const small = await disk.holding(() => aFleet({ env: { ...ANY_SIZE, FLEET_MIN_FREE_DISK: '1000000' } }))
    try {
      await small.start()
      const project = await small.project(repo.path)
      const first = await small.mission(project, 'echo one >one.txt')
      await small.until(first.id, 'done')
      await eventually('one is ready', () => existsSync(join(small.fleet.home.warm, project.id)))
      disk.fill()
      const { id } = await small.mission(project, 'echo two >two.txt').catch(async () => {
        disk.free()
        return small.mission(project, 'echo two >two.txt')
      })
      if (existsSync(join(disk.path, 'filler'))) disk.free()
      expect(await small.until(id, 'done', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
    } finally {
      if (existsSync(join(disk.path, 'filler'))) disk.free()
      await small.remove()
    }
  })
})

test('the budget of disk is kept, and the longest unused go first', async () => {
  await fleet.start({ env: { FLEET_WARM_DISK: '1000000' } })
  await repo.commit('large', { 'large.bin': 'x'.repeat(400_000) })
  const project = await fleet.project(repo.path)
  await fleet.http(`/api/projects/${project.id}/warm`, { method: 'POST', body: JSON.stringify({ count: 4 }) })
  const used = (): number => {
    const folder = join(fleet.fleet.home.warm, project.id)
    if (!existsSync(folder)) return 0
    return Number(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }).split('\t')[0]) * 1024
  }
  await eventually('it fits', () => readyIn(project).length > 0 && used() <= 1_000_000)
  expect(statSync(fleet.fleet.home.warm).mode & 0o77).toBe(0)
})
