import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runGit } from '../../../src/git/testkit.ts'
import { eventually } from '../../kit/fleet.ts'
import { aGitHub, WITH_GH } from '../../kit/github.ts'
import type { World } from '../world.ts'
import { landed, type Scenario } from './scenario.ts'

export const review: Scenario = {
  name: 'a person adds to what waits for review, and a plugin is told of it all',
  async before(world) {
    const folder = join(world.fleet.root, 'home/plugins')
    mkdirSync(folder)
    const told = JSON.stringify(join(world.fleet.root, 'told'))
    const code = `import { appendFileSync } from 'node:fs'
      export default { hooks: { on_event: ({ event }) => appendFileSync(${told}, event.kind + '\\n') } }`
    writeFileSync(join(folder, 'told.mjs'), code)
  },
  async play(world) {
    const project = await world.project({ landing: 'review' })
    const mission = await world.mission(project, 'to look at', world.script('echo mine > agent.txt'))
    const { sessions } = await world.fleet.until(mission.id, 'review')
    writeFileSync(join(sessions[0]!.worktree!, 'person.txt'), 'theirs\n')
    await world.land(mission.id)
    await world.fleet.until(mission.id, 'done')
    if (!(await world.repo.filesOn('main')).includes('person.txt')) throw new Error("the person's change was lost")
    const file = join(world.fleet.root, 'told')
    const told = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
    for (const kind of ['session_ended', 'review_wanted', 'landed'])
      await eventually(
        `the plugin to be told of ${kind}`,
        () => told().includes(kind),
        () => told().join(' '),
      )
    return [landed(mission.id)]
  },
}

export const sentBack: Scenario = {
  name: 'comments on what waits for review go back to its agent',
  async play(world) {
    const project = await world.project({ landing: 'review' })
    const work = 'if [ "$FLEET_REASON" = first ]; then echo a > a.txt; else cp "$FLEET_PROMPT_FILE" told.txt; fi'
    const { id } = await world.mission(project, 'to comment on', world.script(work))
    await world.fleet.until(id, 'review')
    await world.ask('POST', `/api/missions/${id}/comments`, { body: 'comment one', path: 'a.txt', line: 1 })
    await world.ask('POST', `/api/missions/${id}/comments`, { body: 'comment two' })
    await world.ask('POST', `/api/missions/${id}/send-back`, { message: 'please' })
    await eventually('its second session over', async () => {
      const { status, sessions } = await world.fleet.show(id)
      return status === 'review' && sessions.length === 2
    })
    await world.land(id)
    await world.fleet.until(id, 'done')
    const told = await world.repo.readOn('main', 'told.txt')
    if (told.match(/comment (one|two)/g)?.length !== 2) throw new Error(`lost or doubled: ${told}`)
    const { comments } = await world.fleet.show(id)
    if (!comments.every(({ sent_at }) => sent_at)) throw new Error('lost: a comment does not know that it was told')
    return [landed(id, 2)]
  },
}

export const undo: Scenario = {
  name: 'undo under a queued dependent, and landing again',
  base: 'trunk',
  before: async world => void (await world.repo.git('branch', 'trunk')),
  async play(world) {
    const project = await world.project({ base_branch: 'trunk' })
    const first = await world.mission(project, 'first', world.script('echo 1 > first.txt'))
    await world.fleet.until(first.id, 'done')
    await world.ask('POST', '/api/pause', { project_id: project.id })
    const second = await world.mission(project, 'second', world.script('test -e first.txt && echo 2 > second.txt'), {
      depends_on: [first.id],
    })
    await world.ask('POST', `/api/missions/${first.id}/undo`)
    await world.fleet.until(first.id, 'review')
    if ((await world.repo.filesOn('trunk')).includes('first.txt')) throw new Error('it was not undone')
    await eventually(
      'the dependent waits again',
      async () => !(await world.fleet.fleet.store.get('missions', second.id))!.value.ready,
    )
    await world.land(first.id)
    await world.fleet.until(first.id, 'done')
    await world.ask('POST', '/api/unpause', { project_id: project.id })
    await world.fleet.until(second.id, 'done')
    const files = await world.repo.filesOn('trunk')
    if (!files.includes('first.txt') || !files.includes('second.txt')) throw new Error(`lost: trunk has only ${files}`)
    return [{ ...landed(first.id), landings: 2, undos: 1 }, landed(second.id)]
  },
}

export const proposed: Scenario = {
  name: 'a pull request that is merged elsewhere',
  env: { ...WITH_GH, FLEET_PULL_REQUEST_EVERY: '86400' },
  async play(world) {
    const github = await aGitHub(world.repo)
    const project = await world.project({ landing: 'pull-request' })
    const mission = await world.mission(project, 'to be merged elsewhere', world.script('echo merged > merged.txt'))
    await world.fleet.until(mission.id, 'review')
    await github.squash(1)
    await world.land(mission.id)
    await world.fleet.until(mission.id, 'done')
    const made = github.pulls().length
    if (made !== 1) throw new Error(`doubled: ${made} pull requests were made`)
    return [landed(mission.id)]
  },
}

export const forget: Scenario = {
  name: 'clean and delete, with a submodule',
  async before(world) {
    const library = join(world.repo.root, 'library')
    await runGit(world.repo.root, ['clone', '--quiet', world.repo.path, library])
    await world.repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'library')
    await world.repo.commit('with a library')
  },
  async play(world) {
    const project = await world.project({ landing: 'never' })
    const kept = await Promise.all(
      ['one', 'two', 'three'].map(name =>
        world.mission(project, name, world.script(`test -e library/README.md && echo ${name} > ${name}.txt`)),
      ),
    )
    for (const { id } of kept) await world.fleet.until(id, 'done')
    const [one, two] = kept
    await world.ask('POST', `/api/missions/${one!.id}/comments`, { body: 'well done' })
    await world.ask('DELETE', `/api/missions/${one!.id}`)
    await world.ask('POST', '/api/clean')
    await world.ask('DELETE', `/api/missions/${two!.id}`)
    await world.ask('DELETE', `/api/projects/${project.id}`)
    await eventually(
      'all forgotten',
      async () => (await everythingLeft(world)).length === 0,
      async () => (await everythingLeft(world)).join(', '),
    )
    const refs = (await world.repo.git('for-each-ref', '--format=%(refname)', 'refs/fleet')).split('\n')
    if (refs.length !== 3) throw new Error(`lost: only ${refs} keep the work`)
    return []
  },
}

/** Records and folders that should be gone. */
async function everythingLeft({ fleet: { fleet } }: World): Promise<string[]> {
  const collections = ['projects', 'missions', 'sessions', 'reports', 'comments', 'evidence'] as const
  const records = await Promise.all(
    collections.map(async name =>
      (await fleet.store.find(name, { index: 'id', limit: 10 })).items.map(item => `${name}/${item.value.id}`),
    ),
  )
  const folders = ['sessions', 'tasks', 'worktrees'].flatMap(name =>
    readdirSync(join(fleet.home.path, name), { recursive: true }).map(entry => `${name}/${entry}`),
  )
  return [
    ...records.flat(),
    ...folders.filter(folder => folder.split('/').length > 2 || !folder.startsWith('worktrees')),
  ]
}
