import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aScene } from '../../kit/scene.ts'

const SAYS = (claim: object) => `cat > "$FLEET_RESULT_FILE" <<'END'\n${JSON.stringify(claim)}\nEND`

test('an agent that exits 0 having done and said nothing is not done', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(project, 'exit 0')
  const mission = await fleet.until(id, 'failed', 'done', 'review')
  expect(mission).toMatchObject({ status: 'failed', result: null, status_reason: { code: 'nothing_done' } })
  expect(mission.sessions).toHaveLength(1)
  expect(await repo.filesOn('main')).toEqual(['README.md'])
})

test('words alone are not work, nor is a claim that git does not bear out', async () => {
  const { fleet, project } = await aScene()
  const talker = await fleet.mission(project, 'echo All done!')
  const claimer = await fleet.mission(
    project,
    SAYS({ status: 'completed', summary: 'I changed everything', files_changed: ['x'] }),
  )
  for (const { id } of [talker, claimer]) {
    const mission = await fleet.until(id, 'failed', 'done')
    expect(mission).toMatchObject({ status: 'failed', status_reason: { code: 'nothing_done' } })
    expect(mission.report).toMatchObject({ status: 'failed', files_changed: [] })
  }
})

test('its report may say that nothing was needed', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(
    project,
    SAYS({ status: 'completed_no_changes', summary: 'It was right already.' }),
  )
  const mission = await fleet.until(id, 'done', 'failed')
  expect(mission).toMatchObject({ status: 'done', result: 'no_changes', landed: null })
  expect(mission.report).toMatchObject({ source: 'agent', summary: 'It was right already.' })
})

test('a report that says nothing was needed is overruled by git when something changed', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(
    project,
    `echo x > x.txt; ${SAYS({ status: 'completed_no_changes', summary: 'Nothing.' })}`,
  )
  expect((await fleet.until(id, 'done', 'failed')).result).toBe('landed')
  expect(await repo.readOn('main', 'x.txt')).toBe('x')
})

test.each(['review', 'explore', 'plan'])('a %s is done with words only, not in silence', async mission_type => {
  const { fleet, project } = await aScene()
  const words = await fleet.mission(project, 'echo I looked: it is fine', { mission_type })
  const silence = await fleet.mission(project, 'true', { mission_type })
  expect(await fleet.until(words.id, 'done', 'failed')).toMatchObject({ status: 'done', result: 'no_changes' })
  expect(await fleet.until(silence.id, 'done', 'failed')).toMatchObject({
    status: 'failed',
    status_reason: { code: 'nothing_done' },
  })
})

test('an agent that says it is blocked waits for a person, whatever it changed', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(
    project,
    `echo half > half.txt; ${SAYS({ status: 'blocked', summary: 'Which database?' })}`,
  )
  const mission = await fleet.until(id, 'needs_input', 'done', 'failed')
  expect(mission).toMatchObject({ status: 'needs_input', status_reason: { code: 'blocked', text: 'Which database?' } })
  expect(await repo.readOn(mission.branch!, 'half.txt')).toBe('half')
  expect(await repo.filesOn('main')).toEqual(['README.md'])
})

test('a report that is no report counts as none', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(
    project,
    'echo "{not json" > "$FLEET_RESULT_FILE"; echo x > x.txt; echo my last words',
  )
  const mission = await fleet.until(id, 'done', 'failed')
  expect(mission).toMatchObject({ result: 'landed', report: { source: 'git', summary: 'my last words' } })
})

test('work that is all hidden by a new ignore rule waits for a person', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(project, "echo '*' > .gitignore; echo work > b; echo Done.")
  const mission = await fleet.until(id, 'review', 'done', 'failed')
  expect(mission).toMatchObject({ status: 'review', status_reason: { code: 'left_out' } })
  expect(mission.status_reason?.text).toContain('b (only a rule that the agent added to .gitignore hides it)')
  expect(existsSync(join(mission.sessions[0]!.worktree!, 'b'))).toBe(true)
})
