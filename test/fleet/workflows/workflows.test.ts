import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { current } from '../../../src/fleet/records.ts'
import { eventually, scaled } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

interface WorkflowView {
  id: string
  status: string
  status_reason: { text: string } | null
  waits_for: { mission_id: string; text: string }[]
  stages: { name: string; status: string; mission_id: string; settled: string | null }[]
}

async function run({ fleet, project }: Scene, stages: object[], task = 'the task'): Promise<string> {
  const made = await fleet.call<{ id: string }>('create_workflow', {
    name: 'flow',
    project_id: project.id,
    task_prompt: task,
    stages,
  })
  return made.id
}
const show = ({ fleet }: Scene, id: string) => fleet.call<WorkflowView>('get_workflow', { workflow_id: id })
const until = (scene: Scene, id: string, ...statuses: string[]) =>
  eventually(
    `workflow ${statuses}`,
    async () => {
      const view = await show(scene, id)
      return statuses.includes(view.status) ? view : undefined
    },
    async () => JSON.stringify(await show(scene, id), null, 1),
  ) as Promise<WorkflowView>

const missionOf = (view: WorkflowView, name: string) => view.stages.find(stage => stage.name === name)!.mission_id

test('write, review without an edit, refine: the refiner reads the review, and only its end lands', async () => {
  const scene = await aScene()
  const id = await run(scene, [
    { name: 'write', prompt: 'echo "$FLEET_TASK_PROMPT" > text.txt' },
    { name: 'review', prompt: 'test -e text.txt && echo "too {short}"', depends_on: ['write'] },
    {
      name: 'refine',
      prompt:
        'echo "$FLEET_STAGE_REVIEW_SUMMARY|$(cat "$FLEET_STAGE_0_FILES_FILE")|$FLEET_STAGE_1_STATUS" > review.txt; echo more >> text.txt',
      depends_on: [1],
    },
  ])
  const view = await until(scene, id, 'done', 'failed')
  expect(view.status).toBe('done')
  expect(await scene.repo.readOn('main', 'text.txt')).toBe('the task\nmore')
  expect(await scene.repo.readOn('main', 'review.txt')).toBe('too {short}|text.txt|completed')
  const log = await scene.repo.git('log', '--format=%s', 'main')
  expect(log.split('\n').filter(line => line.startsWith('flow: '))).toHaveLength(1)
})

const RUNS = scaled(2, 100)

test(
  `four, four, one, ${RUNS} times: all finish, and the last sees the work of all`,
  async () => {
    const scene = await aScene({ env: { FLEET_MAX_CONCURRENT: '8' }, project: { landing: 'never' } })
    const names = ['a', 'b', 'c', 'd']
    for (let round = 0; round < RUNS; round++) {
      const id = await run(scene, [
        ...names.map(name => ({ name, prompt: `echo ${name} > ${name}.txt` })),
        ...names.map(name => ({
          name: `${name}2`,
          prompt: `test -e ${name}.txt && echo 2 > ${name}2.txt`,
          depends_on: [name],
        })),
        { name: 'all', prompt: 'ls *.txt > all.list', depends_on: names.map(name => `${name}2`) },
      ])
      const view = await until(scene, id, 'done', 'failed')
      expect(view.status, `round ${round}`).toBe('done')
      const { branch } = await scene.fleet.show(missionOf(view, 'all'))
      expect(await scene.repo.readOn(branch!, 'all.list')).toBe(
        names.flatMap(name => [`${name}.txt`, `${name}2.txt`]).join('\n'),
      )
    }
  },
  RUNS * 20_000 + 40_000,
)

test('of ten stages that may begin, never more than two are at work, and all finish', async () => {
  const scene = await aScene({ env: { FLEET_MAX_CONCURRENT: '2' } })
  const log = `${scene.fleet.root}/at-work`
  const prompt = `echo + >> '${log}'; sleep 0.1; echo - >> '${log}'; echo done`
  const id = await run(
    scene,
    Array.from({ length: 10 }, (_, i) => ({ name: `s${i}`, prompt })),
  )
  expect((await until(scene, id, 'done', 'failed')).status).toBe('done')
  let atWork = 0
  const counts = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map(sign => (atWork += sign === '+' ? 1 : -1))
  expect(counts).toHaveLength(20)
  expect(Math.max(...counts)).toBeLessThanOrEqual(2)
})

test('a server killed between two stages: the rest runs, nothing twice', async () => {
  const scene = await aScene()
  const log = `${scene.fleet.root}/ran`
  const names = ['a', 'b', 'c', 'd']
  const id = await run(
    scene,
    names.map((name, i) => ({
      name,
      prompt: `echo ${name} >> '${log}'; echo ${name} > ${name}.txt`,
      depends_on: i ? [i - 1] : [],
    })),
  )
  for (const [i, name] of names.entries()) {
    await eventually(`${name} has run`, () => existsSync(log) && readFileSync(log, 'utf8').includes(name))
    if (i % 2 === 0) continue
    await scene.fleet.kill()
    await scene.fleet.start()
  }
  expect((await until(scene, id, 'done', 'failed')).status).toBe('done')
  expect(readFileSync(log, 'utf8')).toBe(names.map(name => `${name}\n`).join(''))
})

test('a stage that fails stops what depends on it; tried again, only the rest is done', async () => {
  const scene = await aScene()
  const gate = `${scene.fleet.root}/fixed`
  const id = await run(scene, [
    { name: 'once', prompt: `echo ran >> '${scene.fleet.root}/ran'; echo 1 > one.txt` },
    { name: 'fragile', prompt: `test -e '${gate}' && echo 2 > two.txt`, depends_on: ['once'] },
    { name: 'last', prompt: 'cat one.txt two.txt > three.txt', depends_on: ['fragile'] },
  ])
  const failed = await until(scene, id, 'failed')
  expect(failed.status_reason?.text).toContain('fragile')
  expect(failed.stages.map(stage => stage.settled)).toEqual(['completed', 'failed', null])
  writeFileSync(gate, '')
  await scene.fleet.call('retry_workflow', { workflow_id: id })
  expect((await until(scene, id, 'done')).stages.map(stage => stage.settled)).toEqual(Array(3).fill('completed'))
  expect(readFileSync(`${scene.fleet.root}/ran`, 'utf8')).toBe('ran\n')
  expect(await scene.repo.readOn('main', 'three.txt')).toBe('1\n2')
})

test('continue, a stage in its place, a condition, and what is skipped', async () => {
  const scene = await aScene()
  const id = await run(
    scene,
    [
      { name: 'shaky', prompt: 'exit 3', on_failure: 'continue' },
      { name: 'broken', prompt: 'exit 4', on_failure: { run: 'repair' } },
      { name: 'repair', prompt: 'echo mended > mended.txt' },
      { name: 'sound', prompt: 'echo ok > sound.txt', on_failure: { run: 'never' } },
      { name: 'never', prompt: 'echo no > never.txt' },
      {
        name: 'only if',
        prompt: 'echo no > only.txt',
        depends_on: ['sound'],
        when: { stage: 'sound', status: ['failed'] },
      },
      {
        name: 'end',
        prompt:
          'echo "$FLEET_STAGE_SHAKY_STATUS $FLEET_STAGE_BROKEN_STATUS $FLEET_STAGE_NEVER_STATUS $FLEET_STAGE_ONLY_IF_STATUS" > end.txt',
        depends_on: ['shaky', 'broken', 'never', 'only if', 'sound'],
      },
    ].filter(stage => stage.name !== 'x'),
  )
  const view = await until(scene, id, 'done', 'failed')
  expect([view.status, view.stages.map(stage => stage.settled)]).toEqual([
    'done',
    ['failed', 'failed', 'completed', 'completed', 'skipped', 'skipped', 'completed'],
  ])
  expect(await scene.repo.readOn('main', 'end.txt')).toBe('failed failed skipped skipped')
})

test('of two on the same task the judge names one; it lands, and the other is kept', async () => {
  const scene = await aScene({ project: { checks: [{ name: 'good', command: 'test -e answer.txt' }] } })
  const id = await run(scene, [
    { name: 'red', prompt: 'echo red > answer.txt', checked: true, on_failure: 'continue' },
    { name: 'blue', prompt: 'echo blue > answer.txt', checked: true, on_failure: 'continue' },
    { name: 'grey', prompt: 'echo grey > wrong.txt', checked: true, on_failure: 'continue' },
    {
      name: 'judge',
      prompt: 'echo "$FLEET_STAGE_GREY_STATUS. winner: blue"',
      worktree: 'new',
      depends_on: ['red', 'blue', 'grey'],
      chooses: ['red', 'blue', 'grey'],
    },
  ])
  const view = await until(scene, id, 'done', 'failed')
  expect([view.status, view.stages.map(stage => stage.settled)]).toEqual([
    'done',
    ['completed', 'completed', 'failed', 'completed'],
  ])
  expect(await scene.repo.readOn('main', 'answer.txt')).toBe('blue')
  const red = await scene.fleet.show(missionOf(view, 'red'))
  expect(red).toMatchObject({ status: 'done', result: 'kept' })
  expect(await scene.repo.readOn(red.branch!, 'answer.txt')).toBe('red')
})

test('stages that share a worktree find what git does not know of', async () => {
  const scene = await aScene({ repository: { files: { '.gitignore': 'built/\n', 'README.md': 'x\n' } } })
  const id = await run(scene, [
    { name: 'build', prompt: 'mkdir built && echo 1 > built/out && echo built > note.txt' },
    { name: 'look', prompt: 'test -e built/out && echo seen', depends_on: ['build'], worktree: 'share' },
    { name: 'use', prompt: 'cp built/out used.txt', depends_on: ['look'], worktree: 'share' },
  ])
  expect((await until(scene, id, 'done', 'failed')).status).toBe('done')
  expect(await scene.repo.readOn('main', 'used.txt')).toBe('1')
  expect(await scene.repo.readOn('main', 'note.txt')).toBe('built')
})

test('a changed stage and what depends on it are done anew, and nothing else', async () => {
  const scene = await aScene({ project: { landing: 'never' } })
  const log = `${scene.fleet.root}/ran`
  const stage = (name: string, ...depends_on: string[]) => ({
    name,
    prompt: `echo ${name} >> '${log}'; echo ${name} > ${name}.txt`,
    depends_on,
  })
  const id = await run(scene, [stage('a'), stage('b', 'a'), stage('c', 'a'), stage('d', 'b')])
  await until(scene, id, 'done')
  await scene.fleet.call('change_workflow_stage', {
    workflow_id: id,
    stage: 'b',
    agent: 'shell',
    prompt: `echo again >> '${log}'; echo again > b.txt`,
  })
  const view = await until(scene, id, 'done')
  const ran = readFileSync(log, 'utf8').trim().split('\n')
  expect(ran.slice(0, 4).sort()).toEqual(['a', 'b', 'c', 'd'])
  expect(ran.slice(4)).toEqual(['again', 'd'])
  const last = await scene.fleet.show(missionOf(view, 'd'))
  expect(await scene.repo.readOn(last.branch!, 'b.txt')).toBe('again')
})

test('cancelled: what is at work is stopped, what has not begun never begins', async () => {
  const scene = await aScene()
  const gate = scene.gate('work')
  const id = await run(scene, [
    { name: 'long', prompt: gate.wait },
    { name: 'after', prompt: 'echo x > x.txt', depends_on: ['long'] },
  ])
  await eventually('at work', () => gate.reached())
  await scene.fleet.call('cancel_workflow', { workflow_id: id })
  const view = await until(scene, id, 'cancelled')
  await scene.fleet.until(missionOf(view, 'long'), 'cancelled')
  expect((await scene.fleet.show(missionOf(view, 'after'))).status).toBe('draft')
})

test('retried in order: a replacement waits for its stage again, and skipped stages are judged again', async () => {
  const scene = await aScene({ project: { landing: 'never' } })
  const fixed = `${scene.fleet.root}/fixed`
  const log = `${scene.fleet.root}/ran`
  const stage = (name: string, rest: string, more: object = {}) => ({
    ...{ name, prompt: `echo ${name} >> '${log}'; ${rest}` },
    ...more,
  })
  const id = await run(scene, [
    stage('main', `test -e '${fixed}' && echo 1 > one.txt`, { on_failure: { run: 'instead' } }),
    stage('instead', 'false'),
    stage('celebrate', 'echo 2 > two.txt', {
      depends_on: ['main'],
      when: { stage: 'main', status: ['completed'] },
    }),
    stage('aside', 'echo 3 > three.txt'),
    stage('last', 'cat one.txt > last.txt', { depends_on: ['main', 'aside'] }),
  ])
  await until(scene, id, 'failed')
  writeFileSync(fixed, '')
  writeFileSync(log, '')
  await scene.fleet.call('retry_workflow', { workflow_id: id })
  const view = await until(scene, id, 'done', 'failed')
  expect(view.stages.map(({ name, settled }) => `${name} ${settled}`)).toEqual([
    'main completed',
    'instead skipped',
    'celebrate completed',
    'aside completed',
    'last completed',
  ])
  expect(readFileSync(log, 'utf8').trim().split('\n').sort()).toEqual(['celebrate', 'last', 'main'])
})

test('a failure that was gone on with is not done again because another stage failed', async () => {
  const scene = await aScene({ project: { landing: 'never' } })
  const fixed = `${scene.fleet.root}/fixed`
  const log = `${scene.fleet.root}/ran`
  const id = await run(scene, [
    { name: 'optional', prompt: `echo optional >> '${log}'; false`, on_failure: 'continue' },
    { name: 'after', prompt: `echo after >> '${log}'; echo 1 > one.txt`, depends_on: ['optional'] },
    { name: 'fragile', prompt: `echo fragile >> '${log}'; test -e '${fixed}' && echo 2 > two.txt` },
  ])
  await until(scene, id, 'failed')
  writeFileSync(fixed, '')
  writeFileSync(log, '')
  await scene.fleet.call('retry_workflow', { workflow_id: id })
  expect((await until(scene, id, 'done', 'failed')).status).toBe('done')
  expect(readFileSync(log, 'utf8')).toBe('fragile\n')
})

test('tried again while it is still being stopped: refused until that is over, and then done', async () => {
  const scene = await aScene()
  const gate = scene.gate('work')
  const stubborn = `trap '' TERM; ${gate.wait}; echo x > x.txt`
  const id = await run(scene, [{ name: 'long', prompt: stubborn }])
  await eventually('at work', () => gate.reached())
  await scene.fleet.call('cancel_workflow', { workflow_id: id })
  await expect(scene.fleet.call('retry_workflow', { workflow_id: id })).rejects.toThrow('still being stopped')
  const change = { workflow_id: id, stage: 'long', agent: 'shell', prompt: 'echo y > y.txt' }
  await expect(scene.fleet.call('change_workflow_stage', change)).rejects.toThrow('is running')
  gate.open()
  await eventually('it has stopped', () => scene.fleet.call('retry_workflow', { workflow_id: id }).catch(() => false))
  expect((await until(scene, id, 'done', 'failed')).status).toBe('done')
})

test('cleaned up and tried again, it goes on from the work that was kept', async () => {
  const scene = await aScene()
  const fixed = `${scene.fleet.root}/fixed`
  const id = await run(scene, [
    { name: 'once', prompt: 'echo 1 > one.txt' },
    { name: 'fragile', prompt: `test -e '${fixed}' && cat one.txt > two.txt`, depends_on: ['once'] },
    { name: 'sharing', prompt: 'cat two.txt > three.txt', depends_on: ['fragile'], worktree: 'share' },
  ])
  await until(scene, id, 'failed')
  writeFileSync(fixed, '')
  const cleaned = await scene.fleet.fleetCommand(['workflow', 'cleanup', id])
  expect(cleaned.code, cleaned.stderr).toBe(0)
  await scene.fleet.call('retry_workflow', { workflow_id: id })
  const view = await until(scene, id, 'done', 'failed')
  expect(view.status, JSON.stringify(view)).toBe('done')
  expect(await scene.repo.readOn('main', 'three.txt')).toBe('1')
})

test('a stage of a workflow at work cannot be deleted; one whose mission is gone fails with the reason, and stops nobody', async () => {
  const scene = await aScene({ project: { landing: 'never' } })
  const { fleet } = scene
  const gate = scene.gate('work')
  const id = await run(scene, [
    { name: 'a', prompt: gate.wait },
    { name: 'b', prompt: 'echo b > b.txt', depends_on: ['a'] },
  ])
  await eventually('at work', () => gate.reached())
  const mission_id = missionOf(await show(scene, id), 'b')
  await expect(fleet.call('delete_mission', { mission_id })).rejects.toThrow(`a stage of workflow ${id}`)
  // An older program allowed this.
  const { version } = await current(fleet.fleet, 'missions', mission_id)
  await fleet.fleet.store.commit({ changes: [{ remove: 'missions', id: mission_id, expects: version }] })
  gate.open()
  const view = await until(scene, id, 'failed', 'done')
  expect(view.status_reason?.text).toContain(`There is no mission "${mission_id}"`)
  await fleet.kill()
  await fleet.start()
  const other = await fleet.mission(scene.project, 'echo c > c.txt')
  await fleet.until(other.id, 'done')
})

test('a workflow of which something that was over has been deleted is not tried again', async () => {
  const scene = await aScene({ project: { landing: 'never' } })
  const id = await run(scene, [
    { name: 'a', prompt: 'false' },
    { name: 'b', prompt: 'echo b > b.txt' },
  ])
  const view = await until(scene, id, 'failed')
  await scene.fleet.call('delete_mission', { mission_id: missionOf(view, 'b') })
  await expect(scene.fleet.call('retry_workflow', { workflow_id: id })).rejects.toThrow('was deleted')
})

test('one stage replaces several, and another replaces it: a dependent stage begins once', async () => {
  const scene = await aScene({ project: { landing: 'never' } })
  const log = `${scene.fleet.root}/ran`
  const id = await run(scene, [
    { name: 'second try', prompt: `echo second >> '${log}'; false`, on_failure: { run: 'third try' } },
    { name: 'third try', prompt: `echo third >> '${log}'; echo 3 > three.txt` },
    { name: 'good', prompt: 'echo 1 > one.txt', on_failure: { run: 'second try' } },
    { name: 'bad', prompt: 'false', on_failure: { run: 'second try' } },
    { name: 'last', prompt: `echo last >> '${log}'; echo 4 > four.txt`, depends_on: ['good', 'bad'] },
  ])
  const view = await until(scene, id, 'done', 'failed')
  expect(view.status, JSON.stringify(view)).toBe('done')
  expect(readFileSync(log, 'utf8').trim().split('\n')).toEqual(['second', 'third', 'last'])
})

test('two stages changed at once are both changed', async () => {
  const scene = await aScene({ project: { landing: 'never' } })
  const stage = (name: string) => ({ name, prompt: `echo ${name} > ${name}.txt` })
  const id = await run(scene, [stage('a'), stage('b'), { ...stage('c'), depends_on: ['a', 'b'] }])
  await until(scene, id, 'done')
  const change = (name: string) =>
    scene.fleet.call('change_workflow_stage', {
      ...{ workflow_id: id, stage: name, agent: 'shell' },
      prompt: `echo new > ${name}.txt`,
    })
  const asked = await Promise.allSettled([change('a'), change('b')])
  const view = await until(scene, id, 'done', 'failed')
  expect(view.status).toBe('done')
  const { branch } = await scene.fleet.show(missionOf(view, 'c'))
  for (const [index, name] of ['a', 'b'].entries())
    expect(await scene.repo.readOn(branch!, `${name}.txt`)).toBe(asked[index]!.status === 'fulfilled' ? 'new' : name)
})

test.each([
  [
    'a circle',
    [
      { name: 'a', prompt: 'x', depends_on: ['b'] },
      { name: 'b', prompt: 'x', depends_on: ['a'] },
    ],
    'itself',
  ],
  ['an unknown stage', [{ name: 'a', prompt: 'x', depends_on: ['z'] }], 'no stage'],
  [
    'a variable without a value',
    [
      { name: 'a', prompt: 'echo "$FLEET_STAGE_1_SUMMARY"' },
      { name: 'b', prompt: 'x' },
    ],
    'never have a value',
  ],
  ['a variable of nobody', [{ name: 'a', prompt: 'echo $FLEET_STAGE_9_SUMMARY' }], 'names no stage'],
  [
    'the same name twice',
    [
      { name: 'a', prompt: 'x' },
      { name: 'A', prompt: 'x' },
    ],
    'twice',
  ],
  ['an unknown agent', [{ name: 'a', prompt: 'x', agent: 'nobody' }], 'nobody'],
])('%s is refused when it is written', async (_name, stages, why) => {
  const scene = await aScene({ start: false })
  await expect(run(scene, stages)).rejects.toThrow(why)
})

test('a workflow with a stage that is blocked says so, in its list too, and whoever follows it is told', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const blocked = `printf '{"status":"blocked","summary":"Which port?"}' > "$FLEET_RESULT_FILE"`
  const id = await run(scene, [
    { name: 'ask', prompt: blocked, agent: 'shell' },
    { name: 'after', prompt: 'echo x > x', agent: 'shell', depends_on: ['ask'] },
  ])
  const view = await eventually('it waits', async () => {
    const now = await show(scene, id)
    return now.waits_for.length ? now : undefined
  })
  expect(view).toMatchObject({
    status: 'running',
    waits_for: [{ mission_id: missionOf(view, 'ask'), text: 'Which port?' }],
  })
  const { workflows } = await fleet.call<{ workflows: WorkflowView[] }>('list_workflows')
  expect(workflows[0]!.waits_for).toEqual(view.waits_for)
  const followed = await fleet.fleetCommand(['workflow', 'show', id, '--follow'])
  expect(followed).toMatchObject({ code: 3, stdout: expect.stringContaining('waits for you: Which port?') })
})
