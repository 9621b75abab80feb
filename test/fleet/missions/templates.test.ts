import { expect, test } from 'vitest'
import { aScene } from '../../kit/scene.ts'

/** A value that would do harm as part of a script. */
const HOSTILE = `$(touch canary) \`touch canary\` "; touch canary; ' {file}`

test('a mission is saved under a name, filled in and run; what is said holds instead', async () => {
  const { fleet, repo, project } = await aScene()
  const draft = await fleet.call<{ id: string }>('create_mission', {
    project_id: project.id,
    title: 'Write {what}',
    detailed_prompt: 'echo "$FLEET_VAR_WHAT {other}" > "$FLEET_VAR_FILE"',
    max_retries: 2,
    tags: ['kept'],
  })
  const variables = [{ name: 'what' }, { name: 'file', default: 'out.txt' }]
  await fleet.call('save_template', { name: 'write', mission_id: draft.id, variables })
  await expect(fleet.call('save_template', { name: 'Write', mission_id: draft.id })).rejects.toThrow('already is')
  await expect(
    fleet.call('save_template', { name: 'x', mission_id: draft.id, variables: [{ name: 'nowhere' }] }),
  ).rejects.toThrow('$FLEET_VAR_NOWHERE')

  const use = (more: object) =>
    fleet.call<{ id: string }>('create_mission_from_template', { template: 'write', project_id: project.id, ...more })
  await expect(use({})).rejects.toThrow('needs a value for what')
  await expect(use({ values: { what: 'x', who: 'y' } })).rejects.toThrow('"who"')
  const made = await use({ values: { what: HOSTILE }, max_retries: 1, auto_dispatch: true })
  expect(await fleet.until(made.id, 'done')).toMatchObject({
    title: expect.stringContaining('Write $(touch canary)'),
    tags: ['kept'],
    max_retries: 1,
    result: 'landed',
  })
  expect((await repo.git('show', 'main:out.txt')).trim()).toBe(`${HOSTILE} {other}`)
  expect(await repo.filesOn('main')).not.toContain('canary')

  await fleet.call('delete_template', { template: 'write' })
  await expect(use({ values: { what: 'x' } })).rejects.toThrow('There is no template')
})

test('settings of one project are those of another, except where it says otherwise', async () => {
  const { fleet, project, repository } = await aScene({
    start: false,
    project: { landing: 'never', checks: [{ name: 'c', command: 'true' }], max_turns: 7 },
  })
  await fleet.call('save_template', { name: 'strict', project_id: project.id })
  const other = await repository()
  const { code, stderr } = await fleet.fleetCommand(
    ['project', 'add', other.path, '--template', 'strict', '--landing', 'review', '--name', 'other'],
    {},
  )
  expect(code, stderr).toBe(0)
  const { projects } = await fleet.call<{ projects: object[] }>('list_projects', { path: other.path })
  expect(projects).toMatchObject([
    { name: 'other', landing: 'review', max_turns: 7, checks: [{ name: 'c', command: 'true' }] },
  ])
  expect((await fleet.fleetCommand(['template', 'use', 'strict', '--project', 'other'])).stderr).toMatch(
    /no template of a mission called "strict"/,
  )
})
