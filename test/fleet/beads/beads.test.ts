import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { MissionView } from '../../../src/operations/views.ts'
import { eventually, NODE, ROOT, readJson, scaled, type TestFleet } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aWorker } from '../../kit/worker.ts'

const AT = '2026-01-02T03:04:05.000Z'
const link = (issue_id: string, depends_on_id: string, type: string) => ({
  issue_id,
  depends_on_id,
  type,
  created_at: AT,
})
/** Puts the stand-in for bd on the PATH. */
const WITH_BD = {
  PATH: `${join(ROOT, 'test/fixtures/beads')}:${join(NODE, '..')}:${process.env.PATH}`,
  FLEET_BEADS_EVERY: '5',
}

const BEADS = [
  {
    id: 'bd-2',
    title: 'Second',
    description: 'do: cat one.txt > two.txt',
    priority: 3,
    dependencies: [link('bd-2', 'bd-1', 'blocks'), link('bd-2', 'bd-9', 'blocks'), link('bd-2', 'bd-3', 'related')],
    created_at: AT,
  },
  {
    id: 'bd-1',
    title: 'First',
    description: 'do: echo one > one.txt',
    priority: 1,
    issue_type: 'bug',
    labels: ['x'],
    comments: [{ id: 1, issue_id: 'bd-1', author: 'ann', text: 'Mind the gap.', created_at: AT }],
    estimated_minutes: 5,
  },
  { id: 'bd-3', title: 'Later', status: 'deferred', unknown: { kept: true } },
  { id: 'bd-9', title: 'Long ago', status: 'closed', closed_at: AT },
  { id: 'bd-8', title: 'A word', issue_type: 'message' },
]

test('beads become missions, once, in their order; what landed is closed in the file, and the rest of it stays', async () => {
  const { fleet, repo } = await aScene()
  aWorker(fleet)
  const file = join(repo.path, '.beads/issues.jsonl')
  mkdirSync(join(repo.path, '.beads'))
  writeFileSync(file, BEADS.map(bead => `${JSON.stringify(bead)}\n`).join(''))
  const beads = async (...args: string[]) => {
    const { code, stdout, stderr } = await fleet.fleetCommand(['beads', ...args, '--json'], { cwd: repo.path })
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout) as { made: string[]; known: string[]; skipped: string[]; links: number }
  }
  const { made, ...rest } = await beads('import', '--dispatch')
  expect(made).toHaveLength(3)
  expect(rest).toEqual({ known: [], skipped: ['bd-9', 'bd-8'], links: 1 })
  expect(await beads('import', '--dispatch')).toMatchObject({ made: [], known: ['bd-1', 'bd-2', 'bd-3'] })

  const [first, second, later] = made
  expect(await fleet.until(first!, 'done')).toMatchObject({ mission_type: 'fix', priority: 100, tags: ['x'] })
  expect(await fleet.until(second!, 'done')).toMatchObject({ depends_on: [first], priority: -100 })
  expect(await fleet.show(later!)).toMatchObject({ status: 'draft' })
  expect((await repo.git('show', 'main:two.txt')).trim()).toBe('one')
  const comment = { mission_id: first, body: 'Done so.' }
  await fleet.call('comment_mission', comment)
  await fleet.call('create_mission', {
    project_id: (await fleet.show(first!)).project_id,
    title: 'Ours',
    detailed_prompt: 'x',
    depends_on: [second],
  })

  await beads('export')
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const now = lines.map(each => JSON.parse(each))
  expect(now.map(({ id, status }) => [id, status])).toEqual([
    ['bd-2', 'closed'],
    ['bd-1', 'closed'],
    ['bd-3', 'deferred'],
    ['bd-9', 'closed'],
    ['bd-8', undefined],
    [expect.stringMatching(/^fleet-/), 'open'],
  ])
  expect(now[0]).toMatchObject({ ...BEADS[0], close_reason: 'landed' })
  expect(now[1].comments.map((each: { text: string }) => each.text)).toEqual(['Mind the gap.', 'Done so.'])
  expect(now[1]).toMatchObject({ estimated_minutes: 5, priority: 1 })
  expect(lines.slice(2, 5)).toEqual(BEADS.slice(2).map(bead => JSON.stringify(bead)))
  expect(now[5]).toMatchObject({
    title: 'Ours',
    priority: 2,
    dependencies: [{ depends_on_id: 'bd-2', type: 'blocks' }],
  })
  await beads('export')
  expect(readFileSync(file, 'utf8')).toBe(`${lines.join('\n')}\n`)
})

test('if one bead cannot become a mission, none is made', async () => {
  const { fleet, repo } = await aScene({ start: false })
  aWorker(fleet)
  const many = Array.from({ length: 61 }, (_, n) => ({ id: `bd-${n}`, title: 'One of many' }))
  const waits = { id: 'all', title: 'All', dependencies: many.map(({ id }) => link('all', id, 'blocks')) }
  const file = join(fleet.root, 'many.jsonl')
  writeFileSync(file, [...many, waits].map(bead => JSON.stringify(bead)).join('\n'))
  const input = readFileSync(file, 'utf8')
  const piped = await fleet.fleetCommand(['beads', 'import', '-'], { cwd: repo.path, input })
  const { code, stderr } = await fleet.fleetCommand(['beads', 'import', file], { cwd: repo.path })
  expect(piped.stderr).toBe(stderr)
  const refusal = '"all" cannot become a mission: depends_on may have at most 60 entries.'
  expect([code, stderr.split('\n')[0]]).toEqual([2, `fleet: ${refusal}`])
  const listed = await fleet.fleetCommand(['mission', 'list', '--json'], { cwd: repo.path })
  expect(JSON.parse(listed.stdout).missions).toEqual([])
})

test('bd is run in the home with its arguments, its input and its exit code', async () => {
  const { fleet } = await aScene({ start: false })
  const bin = join(fleet.root, 'bin')
  expect((await fleet.fleetCommand(['bd', 'ready'])).stderr).toContain('bd was not found')
  mkdirSync(bin)
  writeFileSync(join(bin, 'bd'), '#!/bin/sh\npwd\nprintf "<%s>" "$@"\ncat\nexit 7\n')
  chmodSync(join(bin, 'bd'), 0o755)
  const env = { PATH: `${bin}:${process.env.PATH}` }
  const args = ['bd', 'list', 'two words', '--json', '-p', '1', '--help', '--', '$(x)']
  const { code, stdout } = await fleet.fleetCommand(args, { env, input: 'from me' })
  expect(code).toBe(7)
  expect(stdout).toBe(`${fleet.fleet.home.path}\n<list><two words><--json><-p><1><--help><--><$(x)>from me`)
})

test('two homes bridged to one database: each bead is claimed once, done once, and closed when it has landed', async () => {
  const [one, two] = [await aScene(), await aScene()]
  for (const { fleet } of [one, two]) aWorker(fleet)
  const { repo } = one
  const database = join(one.fleet.root, 'database')
  for (const folder of [database, join(repo.path, '.beads')]) mkdirSync(folder)
  const ids = ['bd-1', 'bd-2', 'bd-3', 'bd-4']
  for (const id of ids) {
    const dependencies = id === 'bd-4' ? [{ depends_on_id: 'bd-1', type: 'blocks' }] : []
    const bead = { id, title: id, description: `do: echo ${id} >> ${id}.txt`, status: 'open', dependencies }
    writeFileSync(join(database, `${id}.json`), JSON.stringify(bead))
  }
  const project = await two.fleet.project(repo.path, { name: 'the same' })
  const env = { ...WITH_BD, BD_STAND_IN: database }
  const look = async ({ fleet }: typeof one) => {
    const { code, stderr } = await fleet.fleetCommand(['beads', 'bridge', '--once'], { cwd: repo.path, env })
    expect(code, stderr).toBe(0)
  }
  const states = () => ids.map(id => readJson<{ status: string }>(join(database, `${id}.json`)).status)
  await eventually(
    'all are closed',
    async () => {
      await Promise.all([look(one), look(two)])
      return states().every(status => status === 'closed')
    },
    () => states().join(),
    90_000,
  )
  const closed = readFileSync(join(database, 'closed.log'), 'utf8')
    .trim()
    .split('\n')
    .map(line => line.split(' ')[0])
  expect(closed.toSorted()).toEqual(ids)
  const missions = async (fleet: TestFleet, project_id: string) =>
    (await fleet.call<{ missions: { metadata: { bead: string } }[] }>('list_missions', { project_id })).missions
  const made = [...(await missions(one.fleet, one.project.id)), ...(await missions(two.fleet, project.id))]
  expect(made.map(({ metadata }) => metadata.bead).toSorted()).toEqual(ids)
  for (const id of ids) expect((await repo.git('show', `main:${id}.txt`)).trim()).toBe(id)
}, 120_000)

test('beads made where you stand become missions there, with the agent and model that were chosen', async () => {
  const { fleet, repo, repository } = await aScene({ env: WITH_BD })
  aWorker(fleet, 'other')
  const other = await repository({ files: { 'sub/README.md': '# Here\n' } })
  await fleet.project(other.path)
  const database = join(fleet.root, 'home/.beads/database')
  mkdirSync(database, { recursive: true })
  const create = async (cwd: string, ...args: string[]) => {
    const { code, stdout, stderr } = await fleet.fleetCommand(['bd', 'create', ...args], { cwd })
    return { code, stderr, bead: stdout && readJson<object>(join(database, `${stdout.trim()}.json`)) }
  }
  const { bead } = await create(join(other.path, 'sub'), 'Here', '--description', 'do: echo here > here.txt')
  expect(bead).toMatchObject({ title: 'Here', metadata: { fleet_directory: join(other.path, 'sub') } })
  const chosen = ['--coder=other', '--model', 'm-1', '--metadata', '{"mine":1}', '--description', 'do: echo a > a.txt']
  expect((await create(repo.path, ...chosen, 'There')).bead).toMatchObject({
    metadata: { mine: 1, fleet_directory: repo.path, fleet_agent: 'other', fleet_model: 'm-1' },
  })
  expect(await create(repo.path, 'x', '--coder', 'nobody')).toMatchObject({ code: 4, bead: '' })
  expect(await create(repo.path, 'x', '--coder', 'shell')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('beads are prose'),
  })
  expect((await create(fleet.root, 'Nowhere')).code).toBe(0)

  // The server takes the beads up, and continues after it was killed.
  const detach = await fleet.fleetCommand(['beads', 'bridge', '--of-home', '--detach'])
  expect(detach.code, detach.stderr).toBe(0)
  const states = () => [1, 2, 3].map(n => readJson<{ status: string }>(join(database, `bd-${n}.json`)).status)
  await eventually('the first is claimed', () => states().includes('in_progress'))
  await fleet.kill()
  await fleet.start()
  await eventually(
    'both are closed',
    () => states().join() === 'closed,closed,open',
    () => states().join(),
  )
  const { missions } = await fleet.call<{ missions: MissionView[] }>('list_missions')
  const [here, there] = ['Here', 'There'].map(title => missions.filter(each => each.title === title))
  expect(here).toMatchObject([{ subdirectory: 'sub', agent: null, result: 'landed' }])
  expect(there).toMatchObject([{ agent: 'other', model: 'm-1', result: 'landed' }])
  expect(await other.readOn('main', 'sub/here.txt')).toBe('here')
  const said = await fleet.fleetCommand(['beads', 'bridge', '--of-home', '--once'])
  expect(said.stderr).toContain('bd-3 is left alone')

  const bridges = async () => (await fleet.fleetCommand(['config', 'show'])).stdout.match(/^beads_bridges .*$/m)?.[0]
  expect(await bridges()).toMatch(/ home .*fleet\.toml/)
  const colon = await repository()
  mkdirSync(join(colon.path, 'a:b'))
  await colon.git('clone', '--quiet', colon.path, join(colon.path, 'a:b'))
  const inColon = { cwd: join(colon.path, 'a:b') }
  await fleet.fleetCommand(['beads', 'bridge', '--detach'], inColon)
  expect(await bridges()).toContain(`home, ${join(colon.path, 'a:b')} `)
  await fleet.fleetCommand(['beads', 'bridge', '--stop'], inColon)
  await fleet.fleetCommand(['beads', 'bridge', '--of-home', '--stop'])
  expect(await bridges()).toContain('(default)')
})

test('a bead that bd cannot tell of just now is taken later, and an odd one keeps no other waiting', async () => {
  const { fleet, repo } = await aScene({ start: false })
  aWorker(fleet)
  const [bin, database] = [join(fleet.root, 'bin'), join(repo.path, '.beads/database')]
  for (const folder of [bin, database]) mkdirSync(folder, { recursive: true })
  // The real bd fails like this while another process has its database.
  const locked = (verb: string): string => join(fleet.root, `locked-${verb}`)
  const standIn = join(ROOT, 'test/fixtures/beads/bd')
  const script = `[ -e "${locked('')}$1" ] && { echo database is locked >&2; exit 1; }; exec "${standIn}" "$@"`
  writeFileSync(join(bin, 'bd'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  for (const id of ['0'.repeat(119), '--db=elsewhere', '道'.repeat(40), 'bd-1'])
    writeFileSync(
      join(database, `${id}.json`),
      JSON.stringify({ id, title: id, description: 'do: echo done > done.txt', status: 'open' }),
    )
  const env = { ...WITH_BD, PATH: `${bin}:${WITH_BD.PATH}` }
  const bridge = (...args: string[]) => fleet.fleetCommand(['beads', 'bridge', ...args], { cwd: repo.path, env })
  for (const wrong of [
    ['--every', 'soon'],
    ['--every', '0'],
    ['--at-once', 'x'],
  ])
    expect((await bridge('--once', ...wrong)).code).toBe(2)

  writeFileSync(locked('show'), '')
  const held = await bridge('--once')
  expect(held.code, held.stderr).toBe(0)
  expect(held.stdout).not.toContain('Claimed')
  expect(held.stderr).toContain('bd-1 is left alone: bd show failed')
  expect(held.stderr).toMatch(/--db=elsewhere is left alone: .*id/)
  expect(held.stderr).toMatch(/道 is left alone: .*id/)

  rmSync(locked('show'))
  const { missions } = JSON.parse((await fleet.fleetCommand(['mission', 'list', '--json'], { cwd: repo.path })).stdout)
  expect(missions).toEqual([])
  expect((await bridge('--once')).code).toBe(0)
  const made = JSON.parse((await fleet.fleetCommand(['mission', 'list', '--json'], { cwd: repo.path })).stdout)
  expect(made.missions.map((each: MissionView) => each.metadata.bead).toSorted()).toEqual(['0'.repeat(119), 'bd-1'])
})

test('the servers of two homes go between the fleet and one database: each bead is claimed and done once', async () => {
  const [one, two] = [await aScene({ env: WITH_BD, start: false }), await aScene({ env: WITH_BD, start: false })]
  for (const { fleet } of [one, two]) aWorker(fleet)
  const { repo } = one
  await two.fleet.project(repo.path)
  const database = join(repo.path, '.beads/database')
  mkdirSync(database, { recursive: true })
  const ids = Array.from({ length: 6 }, (_, n) => `bd-${n + 1}`)
  for (const id of ids)
    writeFileSync(
      join(database, `${id}.json`),
      JSON.stringify({ id, title: id, description: `do: echo ${id} >> ${id}.txt`, status: 'open' }),
    )
  await Promise.all(
    [one, two].map(({ fleet }) => fleet.start({ env: { FLEET_BEADS_BRIDGES: repo.path, FLEET_BEADS_AT_ONCE: '3' } })),
  )
  const states = () => ids.map(id => readJson<{ status: string }>(join(database, `${id}.json`)).status)
  await eventually(
    'all are closed',
    () => states().every(status => status === 'closed'),
    () => states().join(),
    90_000,
  )
  const made = await Promise.all(
    [one, two].map(async ({ fleet }) => (await fleet.call<{ missions: MissionView[] }>('list_missions')).missions),
  )
  expect(
    made
      .flat()
      .map(({ metadata }) => metadata.bead)
      .toSorted(),
  ).toEqual(ids)
  for (const id of ids) expect(await repo.readOn('main', `${id}.txt`)).toBe(id)
}, 120_000)

test('folders that are left to the server at the same moment are all kept, and all given up', async () => {
  const { fleet, repository } = await aScene({ start: false })
  const folders = await Promise.all(Array.from({ length: 4 }, async () => (await repository()).path))
  for (const path of folders) await fleet.project(path)
  const bridges = async () => {
    const { stdout } = await fleet.fleetCommand(['call', 'get_settings'])
    return JSON.parse(stdout).settings.find(({ key }: { key: string }) => key === 'beads_bridges').value as string[]
  }
  const all = (flag: string) =>
    Promise.all(folders.map(cwd => fleet.fleetCommand(['beads', 'bridge', flag], { cwd, env: WITH_BD })))
  try {
    for (let round = 0; round < scaled(2, 20); round++) {
      const begun = await all('--detach')
      expect(begun.map(({ code, stderr }) => `${code} ${code && stderr}`)).toEqual(folders.map(() => '0 0'))
      expect((await bridges()).toSorted(), `round ${round}`).toEqual(folders.toSorted())
      await all('--stop')
      expect(await bridges(), `round ${round}`).toEqual([])
    }
  } finally {
    await fleet.fleetCommand(['down'])
  }
}, 180_000)
