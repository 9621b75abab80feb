import { expect, test } from 'vitest'
import type { Comment } from '../../../src/domain/records/mission.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

/** Work that waits for review. If it is sent back, its agent writes its prompt to a file. */
async function reviewed({ fleet, project }: Scene, script = 'printf "one\\ntwo\\nthree\\n" > list.txt') {
  const { id } = await fleet.mission(
    project,
    `if [ "$FLEET_REASON" != first ]; then cp "$FLEET_PROMPT_FILE" told.txt; exit; fi; ${script}`,
    { landing: 'review' },
  )
  await fleet.until(id, 'review')
  return id
}

const comment = ({ fleet }: Scene, mission_id: string, fields: object): Promise<Comment> =>
  fleet.call('comment_mission', { mission_id, ...fields })
const commentsOf = async ({ fleet }: Scene, mission_id: string, filter = {}): Promise<Comment[]> =>
  (await fleet.call<{ comments: Comment[] }>('list_comments', { mission_id, ...filter })).comments

test('comments on lines go back to the agent as one batch, each once', async () => {
  const scene = await aScene({ repository: { files: { 'list.txt': 'zero\n' } } })
  const { fleet, repo } = scene
  const id = await reviewed(scene)
  const first = await comment(scene, id, { body: 'spell it out', path: 'list.txt', line: 2 })
  expect(first).toMatchObject({ quote: 'two', side: 'new', sent_at: null })
  await comment(scene, id, { body: 'why is this gone?', path: 'list.txt', line: 1, side: 'old' })
  const slip = await comment(scene, id, { body: 'never mind' })
  await fleet.call('delete_comment', { comment_id: slip.id })
  const changed = await fleet.call<Comment>('update_comment', { comment_id: first.id, body: 'spell it out!', line: 3 })
  expect(changed).toMatchObject({ body: 'spell it out!', quote: 'three', path: 'list.txt' })
  // An agent does not get its own comments.
  await fleet.fleet.store.commit({
    changes: [
      { put: 'comments', value: { ...changed, id: 'own', author: 'session:x', body: 'my own' }, expects: 'absent' },
    ],
  })

  await fleet.call('send_back_mission', { mission_id: id, message: 'Nearly there.' })
  const back = await fleet.until(id, 'review')
  expect(back.sessions.map(({ reason }) => reason)).toEqual(['first', 'resume'])
  const told = await repo.readOn(back.branch!, 'told.txt')
  expect(told).toContain('Nearly there.')
  expect(told).toContain('1. list.txt:3\n   > three\n   spell it out!')
  expect(told).toContain('2. list.txt:1 (as it was before your change)\n   > zero\n   why is this gone?')
  expect(told).not.toMatch(/never mind|my own/)
  expect((await commentsOf(scene, id, { unsent: true })).length).toBe(0)

  await expect(fleet.call('update_comment', { comment_id: first.id, body: 'x' })).rejects.toThrow(
    /was sent to the agent/,
  )
  await expect(fleet.call('delete_comment', { comment_id: first.id })).rejects.toThrow(/was sent to the agent/)
  await expect(fleet.call('send_back_mission', { mission_id: id })).rejects.toThrow(/every comment was already sent/)
  await fleet.call('send_back_mission', { mission_id: id, message: 'Once more.' })
  const again = await fleet.until(id, 'review')
  expect(await repo.readOn(again.branch!, 'told.txt')).not.toContain('spell it out')
})

test('the words that sent work back stay with the mission: on its page, in the terminal and among the events', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const id = await reviewed(scene)
  await fleet.call('send_back_mission', { mission_id: id, message: 'Say it louder.\nAnd slower.' })
  const { comments } = await fleet.until(id, 'review')
  expect(comments).toMatchObject([{ author: 'person', body: 'Say it louder.\nAnd slower.', path: null }])
  expect(comments[0]!.sent_at).not.toBeNull()
  expect((await fleet.fleetCommand(['mission', 'show', id])).stdout).toContain('Say it louder.')
  const { events } = await fleet.call<{ events: object[] }>('list_events', { mission_id: id, kinds: ['resumed'] })
  expect(events).toMatchObject([{ cause: 'Say it louder.\nAnd slower.', data: { comments: 0 } }])
})

test('what was sent back is sent back once, also when the server is killed and the request repeated', async () => {
  const scene = await aScene()
  const { fleet, repo } = scene
  const id = await reviewed(scene)
  await comment(scene, id, { body: 'mend this' })
  const send = () =>
    fleet.http(`/api/missions/${id}/send-back`, {
      method: 'POST',
      body: JSON.stringify({ message: 'please' }),
      headers: { 'idempotency-key': 'once' },
    })
  const [one, two] = await Promise.all([send(), send()])
  expect([one.status, two.status]).toEqual([200, 200])
  await fleet.kill()
  await fleet.start()
  expect((await send()).status).toBe(200)
  const back = await fleet.until(id, 'review')
  expect(back.sessions.map(({ reason }) => reason)).toEqual(['first', 'resume'])
  expect((await repo.readOn(back.branch!, 'told.txt')).match(/mend this/g)).toHaveLength(1)
  const told = (await commentsOf(scene, id)).map(({ body, sent_at }) => [body, sent_at !== null])
  expect(told).toEqual([
    ['mend this', true],
    ['please', true],
  ])
})

test('rejected work does not land, is kept, and can be reconsidered', async () => {
  const scene = await aScene()
  const { fleet, repo } = scene
  const id = await reviewed(scene)
  const rejected = await fleet.call('reject_mission', { mission_id: id, reason: 'not what was asked for' })
  expect(rejected).toMatchObject({
    status: 'cancelled',
    status_reason: { code: 'rejected', text: 'not what was asked for' },
  })
  await expect(fleet.land(id)).rejects.toThrow(/is cancelled/)
  await fleet.call('clean', {})
  const { branch } = await fleet.show(id)
  expect(await repo.readOn(branch!, 'list.txt')).toBe('one\ntwo\nthree')

  await fleet.call('reconsider_mission', { mission_id: id })
  expect(await fleet.show(id)).toMatchObject({ status: 'review', ended_at: null })
  await fleet.land(id)
  expect((await fleet.until(id, 'done', 'review', 'needs_input')).result).toBe('landed')
  expect(await repo.readOn('main', 'list.txt')).toBe('one\ntwo\nthree')
  await expect(fleet.call('reconsider_mission', { mission_id: id })).rejects.toThrow(/is done/)
})

test('work that landed is reopened with the comments', async () => {
  const scene = await aScene()
  const { fleet, repo, project } = scene
  const { id } = await fleet.mission(
    project,
    'if [ "$FLEET_REASON" = reopen ]; then cp "$FLEET_PROMPT_FILE" told.txt; else echo a > a.txt; fi',
  )
  await fleet.until(id, 'done')
  await comment(scene, id, { body: 'it breaks the page', path: 'a.txt', line: 1 })
  await fleet.call('send_back_mission', { mission_id: id })
  expect((await fleet.until(id, 'done', 'failed')).result).toBe('landed')
  expect(await repo.readOn('main', 'told.txt')).toContain('a.txt:1\n   > a\n   it breaks the page')
})

interface Reviewed {
  mission: { id: string; title: string }
  files: { path: string; change: string; added: number | null; deleted: number | null }[]
  added: number
  checks: { passed: string[]; failed: string[]; missing: string[] }
  overlaps: { mission_id: string; files: string[] }[]
  comments: number
  risk: { level: string; score: number; reasons: { text: string }[] }
}

test('finished work is ranked by risk: what failed its checks, what overlaps, and last what is small and apart', async () => {
  const scene = await aScene({
    repository: { files: { 'list.txt': 'zero\n' } },
    project: { landing: 'review', checks: [{ name: 'whole', command: 'test ! -e broken' }] },
  })
  const { fleet, project } = scene
  const make = async (title: string, script: string) => {
    const { id } = await fleet.mission(project, script, { title })
    await fleet.until(id, 'review')
    return id
  }
  const small = await make('small', 'echo x > note.md')
  const one = await make('one', 'seq 300 > list.txt; echo 1 > a.js')
  const two = await make('two', 'echo two > list.txt')
  const broken = await make('broken', 'touch broken; echo b > b.js')
  await fleet.land(broken)
  await fleet.until(broken, 'review')
  await comment(scene, one, { body: 'hm' })

  const { reviews, more } = await fleet.call<{ reviews: Reviewed[]; more: number }>('list_reviews', { limit: 3 })
  expect(reviews.map(({ mission }) => mission.title)).toEqual(['broken', 'one', 'two'])
  expect(more).toBe(1)
  const [first, second] = reviews
  expect(first).toMatchObject({
    checks: { passed: [], failed: ['whole'], missing: [] },
    risk: {
      level: 'high',
      reasons: [{ text: 'The check whole failed on this work.' }, { text: 'No test was touched.' }],
    },
  })
  expect(second).toMatchObject({
    files: [
      { path: 'a.js', change: 'added', added: 1, deleted: 0 },
      { path: 'list.txt', change: 'modified', added: 300, deleted: 1 },
    ],
    added: 301,
    checks: { missing: ['whole'] },
    overlaps: [{ mission_id: two, files: ['list.txt'] }],
    comments: 1,
  })
  expect(second!.risk.reasons.map(({ text }) => text)).toContain(
    `“two” (${two}) has not landed either and changes list.txt as well.`,
  )
  const alone = await fleet.call<Reviewed>('get_review', { mission_id: small })
  expect(alone).toMatchObject({ overlaps: [], risk: { level: 'low' } })
  expect(await fleet.call('list_reviews', { project_id: project.id })).toMatchObject({ more: 0 })
})

test('two sessions of one mission side by side, and what came between them', async () => {
  const scene = await aScene({
    project: { landing: 'review', checks: [{ name: 'whole', command: 'test -e told.txt' }] },
  })
  const { fleet } = scene
  const id = await reviewed(scene)
  await fleet.land(id)
  await fleet.until(id, 'review')
  await fleet.call('send_back_mission', { mission_id: id, message: 'again' })
  const { sessions } = await fleet.until(id, 'review')
  const [first, second] = sessions.map(session => session.id)

  const compared = await fleet.call<{ between: { text: string } }>('compare_sessions', { first, second })
  expect(compared).toMatchObject({
    first: {
      session: { id: first, reason: 'first' },
      files: [{ path: 'list.txt' }],
      diff: expect.stringContaining('+two'),
      evidence: [{ name: 'whole', passed: false }],
      report: { session_id: first },
    },
    second: {
      session: { id: second, reason: 'resume' },
      files: [{ path: 'list.txt' }, { path: 'told.txt' }],
      evidence: [],
      report: { session_id: second },
    },
    between: { files: [{ path: 'told.txt', change: 'added' }] },
  })
  expect(compared.between.text).not.toContain('a/list.txt')
  const other = await reviewed(scene)
  const { session_id } = await fleet.show(other)
  await expect(fleet.call('compare_sessions', { first, second: session_id })).rejects.toThrow(/another mission/)
})
