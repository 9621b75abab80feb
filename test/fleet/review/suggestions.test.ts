import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aScene, type Scene } from '../../kit/scene.ts'

const SHOP = `${Array.from({ length: 12 }, (_, n) => `line ${n + 1}`).join('\n')}\n`
const WORK = 'sed -i "s/^line \\([39]\\)$/changed \\1/" shop.txt; printf "caf\\\\351\\\\r\\\\nb\\\\r\\\\n" > latin.txt'

async function inReview(scene: Scene, script = WORK) {
  const { fleet, project } = scene
  const { id } = await fleet.mission(project, script, { landing: 'review' })
  await fleet.until(id, 'review')
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fleet.http(path, { method: 'POST', body: JSON.stringify(body), headers })
    return { status: answer.status, body: (await answer.json()) as Record<string, never> }
  }
  const candidate = async () => (await fleet.show(id)).candidate!.commit
  return {
    id,
    candidate,
    comment: async (body: string, place: object) =>
      (await post(`/api/missions/${id}/comments`, { body, ...place })).body as unknown as { id: string; quote: string },
    apply: async (comment: string, expected?: string, key?: string) =>
      post(
        `/api/comments/${comment}/apply`,
        { expected: expected ?? (await candidate()) },
        key ? { 'idempotency-key': key } : {},
      ),
    comments: async () =>
      (await fleet.call<{ comments: { id: string; line: number; candidate: string; applied: string | null }[] }>(
        'list_comments',
        { mission_id: id },
      ))!.comments,
  }
}

const suggest = (...lines: string[]) => ['Better:', '```suggestion', ...lines, '```'].join('\n')

test('a suggestion becomes a commit of the work: a new candidate that its worktree and branch have, and that lands', async () => {
  const scene = await aScene({ repository: { files: { 'shop.txt': SHOP } } })
  const { fleet, repo } = scene
  const { id, candidate, comment, apply, comments } = await inReview(scene)
  const shown = await candidate()
  const range = await comment(suggest('three', 'three and a half'), { path: 'shop.txt', start_line: 3, line: 4 })
  expect(range.quote).toBe('changed 3\nline 4')
  const later = await comment('And this?', { path: 'shop.txt', line: 9 })

  // Who was shown another commit changes nothing.
  expect((await apply(range.id, '0'.repeat(40))).status).toBe(409)
  expect(await candidate()).toBe(shown)

  const answers = await Promise.all([apply(range.id, shown, 'once'), apply(range.id, shown, 'once')])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const mission = await fleet.show(id)
  const next = mission.candidate!.commit
  expect(next).not.toBe(shown)
  expect(mission).toMatchObject({ status: 'review', approval: null })
  expect(await repo.git('rev-parse', `${next}^`)).toBe(shown)
  expect(await repo.git('rev-parse', mission.branch!)).toBe(next)
  const { worktree } = mission.sessions.at(-1)!
  expect((await readFile(join(worktree!, 'shop.txt'), 'utf8')).split('\n').slice(1, 6)).toEqual([
    ...['line 2', 'three', 'three and a half', 'line 5', 'line 6'],
  ])
  // The other comment is still at its line, on the new candidate. What was applied is not sent any more.
  expect(await comments()).toMatchObject([
    { id: range.id, applied: next },
    { id: later.id, line: 9, candidate: next, applied: null },
  ])
  const again = await apply(range.id, next)
  expect([again.status, JSON.stringify(again.body)]).toEqual([409, expect.stringContaining('applied already')])

  // The approval of the commit before is none of this one.
  await expect(fleet.call('land_mission', { mission_id: id, expected: shown })).rejects.toThrow(`is ${next} now`)
  await fleet.land(id)
  await fleet.until(id, 'done')
  expect((await repo.readOn('main', 'shop.txt')).split('\n').slice(2, 4)).toEqual(['three', 'three and a half'])
  expect((await fleet.events()).filter(({ kind }) => kind === 'candidate_changed')).toMatchObject([
    { actor: 'person', cause: 'A suggestion for shop.txt was applied.', data: { before: shown, candidate: next } },
  ])
})

test('a suggestion touches only its lines, whatever the encoding of the file, and comments after it move', async () => {
  const scene = await aScene({ repository: { files: { 'shop.txt': SHOP } } })
  const { id, candidate, comment, apply, comments } = await inReview(scene)
  const first = await comment(suggest(), { path: 'shop.txt', line: 3 })
  const second = await comment(suggest('nine'), { path: 'shop.txt', line: 9 })
  const latin = await comment(suggest('é', 'c'), { path: 'latin.txt', line: 2 })
  for (const { id: each } of [first, second, latin]) expect((await apply(each)).status).toBe(200)
  expect(await comments()).toMatchObject([{ line: 3 }, { line: 8, applied: expect.any(String) }, { line: 2 }])
  const { repo, fleet } = scene
  expect((await repo.readOn(await candidate(), 'shop.txt')).split('\n').slice(1, 8)).toEqual([
    ...['line 2', 'line 4', 'line 5', 'line 6', 'line 7', 'line 8', 'nine'],
  ])
  const { worktree } = (await fleet.show(id)).sessions.at(-1)!
  expect(await readFile(join(worktree!, 'latin.txt'))).toEqual(
    Buffer.concat([Buffer.from('caf\xe9\r\n', 'latin1'), Buffer.from('é\r\nc\r\n', 'utf8')]),
  )
})

test('what cannot be applied is refused in words, and nothing changes', async () => {
  const scene = await aScene({ repository: { files: { 'shop.txt': SHOP, 'gone.txt': 'x\n' } } })
  const { fleet, repo } = scene
  const { id, candidate, comment, apply } = await inReview(scene, `${WORK}; printf "\\\\000" > b.bin; rm gone.txt`)
  const shown = await candidate()
  const says = async (made: Promise<{ id: string }>) => {
    const { status, body } = await apply((await made).id, shown)
    return `${status} ${JSON.stringify(body)}`
  }
  expect(await says(comment('no block', { path: 'shop.txt', line: 3 }))).toContain('has no suggestion')
  expect(await says(comment(suggest('x'), { path: 'shop.txt' }))).toContain('must be on lines of the new file')
  expect(await says(comment(suggest('x'), { path: 'shop.txt', line: 3, side: 'old' }))).toContain('of the new file')
  expect(await says(comment(suggest('x'), { path: 'shop.txt', line: 99 }))).toContain('has no lines 99 to 99')
  expect(await says(comment(suggest('x'), { path: 'b.bin', line: 1 }))).toContain('is not a text file of this work')
  expect(await says(comment(suggest('x'), { path: 'gone.txt', line: 1 }))).toContain('is not a text file of this work')
  expect(await says(comment(suggest('changed 3'), { path: 'shop.txt', line: 3 }))).toContain('has these lines already')
  await repo.git('checkout', '--quiet', (await fleet.show(id)).branch!)
  const good = await comment(suggest('x'), { path: 'shop.txt', line: 3 })
  expect(JSON.stringify((await apply(good.id, shown)).body)).toContain('is checked out in')
  await repo.git('checkout', '--quiet', 'main')
  expect(await candidate()).toBe(shown)

  // A person's own change in the worktree is a candidate first, and the lines may have moved.
  const { worktree } = (await fleet.show(id)).sessions.at(-1)!
  await writeFile(join(worktree!, 'shop.txt'), 'other\n')
  expect((await apply(good.id, shown)).status).toBe(409)
  const now = await candidate()
  expect(now).not.toBe(shown)
  expect(JSON.stringify((await apply(good.id, now)).body)).toContain(
    'The work has changed since this suggestion was made',
  )
})
