import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claudeBinary, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { aScene } from '../../kit/scene.ts'
import { type Model, startModel, steps } from '../../model/index.ts'

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

interface Side {
  mission: { id: string; status: string }
  files: { path: string }[]
  usage: { cost_usd: number }
}

describe.skipIf(!binary)('forking with the real client', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  test('a second mission goes on with a copy, the first stays as it was, and one of them lands', async () => {
    const { fleet, repo, project } = await aScene({
      project: { agent: 'claude', landing: 'review' },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    })
    const made = await fleet.mission(
      project,
      `Remember the lighthouse.\n${steps({ write: 'one.txt', content: '1\n' }, { say: 'First.' })}`,
    )
    const first = await fleet.until(made.id, 'review', 'failed')
    const transcripts = join(fleet.root, '.claude/projects')
    const before = conversations(transcripts)

    const { id } = await fleet.call<{ id: string }>('fork_mission', {
      mission_id: first.id,
      message: steps({ write: 'two.txt', content: '2\n' }, { say: 'Second.' }),
    })
    const second = await fleet.until(id, 'review', 'failed')

    expect(second).toMatchObject({
      status: 'review',
      fork_of: { mission_id: first.id },
      sessions: [{ reason: 'fork' }],
    })
    expect(second.sessions[0]!.conversation).not.toBe(first.sessions[0]!.conversation)
    expect(second.sessions[0]!.worktree).not.toBe(first.sessions[0]!.worktree)
    for (const [file, content] of before) expect(readFileSync(file, 'utf8')).toBe(content)
    expect(model.requests.some(({ body }) => /lighthouse.*two\.txt/s.test(JSON.stringify(body ?? '')))).toBe(true)

    const compared = await fleet.call<{ first: Side; second: Side }>('compare_missions', {
      first: first.id,
      second: id,
    })
    expect(compared.first.files.map(file => file.path)).toEqual(['one.txt'])
    expect(compared.second.files.map(file => file.path).toSorted()).toEqual(['one.txt', 'two.txt'])
    expect(compared.second.usage.cost_usd).toBeLessThan(compared.first.usage.cost_usd * 3)

    await fleet.land(id)
    await fleet.until(id, 'done')
    expect(await repo.filesOn('main')).toEqual(['README.md', 'one.txt', 'two.txt'])
  })
})

function conversations(folder: string): [string, string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.jsonl'))
    .map(entry => [join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name), 'utf8')])
}

test('a client that cannot copy a conversation says so, and a person may choose a hand-over instead', async () => {
  const { fleet, repo, project } = await aScene({ project: { landing: 'review' } })
  const made = await fleet.mission(
    project,
    'if [ "$FLEET_REASON" = fork ]; then cp "$FLEET_PROMPT_FILE" told.txt; else echo 1 > one.txt; echo made one; fi',
  )
  const first = await fleet.until(made.id, 'review')
  await expect(fleet.call('fork_mission', { mission_id: first.id })).rejects.toThrow(/cannot copy a conversation/)

  const { id } = await fleet.call<{ id: string }>('fork_mission', {
    mission_id: first.id,
    fresh: true,
    message: 'Differently.',
  })
  const second = await fleet.until(id, 'review', 'failed')
  const told = await repo.readOn(second.branch!, 'told.txt')
  expect(told).toContain('made one')
  expect(told).toContain('Differently.')
  expect(await repo.readOn(first.branch!, 'one.txt')).toBe('1')
})

test('what has not run, or still runs, is not forked', async () => {
  const { fleet, project, gate } = await aScene()
  const draft = await fleet.mission(project, 'true', { auto_dispatch: false })
  await expect(fleet.call('fork_mission', { mission_id: draft.id, fresh: true })).rejects.toThrow(/has not run/)
  const held = gate('at work')
  const running = await fleet.mission(project, held.wait)
  await fleet.until(running.id, 'running')
  await expect(fleet.call('fork_mission', { mission_id: running.id, fresh: true })).rejects.toThrow(/still at work/)
  held.open()
})
