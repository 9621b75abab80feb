import { expect, test } from 'vitest'
import { Comment } from '../../domain/records/mission.ts'
import { aMission, aProject, aSession, NOW } from '../../domain/samples.testkit.ts'
import { aBench, aWorkshop, interrupted } from '../workshop.testkit.ts'
import { addComment, deleteComment, editComment, sendBack } from './comments.ts'

const ask = (key?: string) => ({ operation: 'test', actor: 'a person', key })
const aComment = (id: string, more: Partial<Comment> = {}): Comment =>
  Comment.parse({
    id,
    mission_id: 'm1',
    project_id: 'p1',
    author: 'a person',
    body: `see ${id}`,
    created_at: NOW,
    ...more,
  })
const plain = { body: 'why?', path: null, line: null, start_line: null, side: 'new' as const }

async function inReview(more: Parameters<typeof aMission>[0] = {}) {
  const bench = aBench()
  await bench.save('projects', aProject())
  await bench.save('missions', aMission({ status: 'review', session_id: 's1', branch: 'b', ...more }))
  await bench.save('sessions', aSession({ status: 'ended' }))
  return { ...bench, comment: async (id: string) => (await bench.fleet.store.get('comments', id))?.value }
}

test('a comment keeps the line it is about, of the side it is about', async () => {
  const { fleet, repo, finished, mission } = await aWorkshop()
  const candidate = await finished('m1', { 'README.md': 'of the agent\n' }, { mission: { status: 'review' } })
  const add = async (more: object) => addComment(fleet, ask(), await mission(), { ...plain, ...more })
  const place = { path: 'README.md', line: 1 }
  expect(await add(place)).toMatchObject({ quote: 'of the agent', candidate, session_id: 's-m1', sent_at: null })
  expect((await add({ ...place, side: 'old' })).quote).toBe('# A project')
  expect((await add({ ...place, line: 99 })).quote).toBeNull()
  await repo.write('other.txt', 'x\n')
  await expect(add({ path: 'other.txt' })).rejects.toThrow('path: other.txt is not in the change')
})

test('the same key makes one comment', async () => {
  const { fleet, mission, told } = await inReview()
  const add = async () => addComment(fleet, ask('k1'), await mission(), plain)
  const [one, other] = await Promise.all([add(), add()])
  expect(one.id).toBe(other.id)
  expect(await told()).toEqual(['commented m1'])
})

test.each([
  { meanwhile: 'being deleted', says: 'Mission m1 is being deleted.' },
  { meanwhile: 'gone', says: 'There is no mission "m1".' },
])('a mission that is $meanwhile gets no comment', async ({ meanwhile, says }) => {
  const { fleet, mission, change } = await inReview()
  const goes = async () => {
    if (meanwhile === 'being deleted') return change('missions', 'm1', { deleting: true })
    const { version } = (await fleet.store.get('missions', 'm1'))!
    await fleet.store.commit({ changes: [{ remove: 'missions', id: 'm1', expects: version }] })
  }
  const add = addComment(interrupted(fleet, 'commit.wish', goes), ask(), await mission(), plain)
  await expect(add).rejects.toThrow(says)
  expect((await fleet.store.find('comments', { index: 'mission', equals: ['m1'], limit: 5 })).items).toEqual([])
})

test('an agent is sent back with every comment once, and not with its own', async () => {
  const { fleet, save, mission, comment } = await inReview()
  await save(
    'comments',
    aComment('c1', { path: 'a.ts', line: 3, quote: 'let x' }),
    aComment('c2', { author: 'session:s1' }),
  )
  await sendBack(fleet, ask(), 'm1', { message: 'Please mend it.' })
  const { status, next } = await mission()
  expect([status, next?.reason]).toEqual(['queued', 'resume'])
  const text = await fleet.blobs.read(next!.instructions!)
  expect(text).toContain('Please mend it.')
  expect(text).toContain('1. a.ts:3\n   > let x\n   see c1')
  expect(text).not.toContain('see c2')
  expect([(await comment('c1'))?.sent_at, (await comment('c2'))?.sent_at]).toEqual([NOW, null])
})

test('with nothing to say an agent is not sent back', async () => {
  const { fleet, save, mission } = await inReview()
  await save('comments', aComment('c1', { sent_at: NOW }))
  await expect(sendBack(fleet, ask(), 'm1', { message: ' ' })).rejects.toThrow(
    'message: is missing, and every comment was already sent to the agent',
  )
  expect((await mission()).status).toBe('review')
})

test('of two who send back at once one does, and each comment is told once', async () => {
  const { fleet, save, told } = await inReview()
  await save('comments', aComment('c1'))
  const both = await Promise.allSettled([sendBack(fleet, ask(), 'm1', {}), sendBack(fleet, ask(), 'm1', {})])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(await told()).toEqual(['resumed m1'])
})

test('a comment that is changed in the moment it is sent is sent as it is then', async () => {
  const { fleet, save, change, mission } = await inReview()
  await save('comments', aComment('c1'))
  const meanwhile = interrupted(fleet, 'commit.wish', () => change('comments', 'c1', { body: 'better words' }))
  await sendBack(meanwhile, ask(), 'm1', {})
  expect(await fleet.blobs.read((await mission()).next!.instructions!)).toContain('better words')
})

test('more comments than fit into one commit wait for the next time', async () => {
  const { fleet, save, comment } = await inReview()
  const ids = Array.from({ length: 120 }, (_, n) => `c${String(n).padStart(3, '0')}`)
  for (let from = 0; from < ids.length; from += 60)
    await save('comments', ...ids.slice(from, from + 60).map(id => aComment(id)))
  await sendBack(fleet, ask('k1'), 'm1', { message: 'and this' })
  const sent = (await Promise.all(ids.map(comment))).filter(each => each?.sent_at)
  expect(sent.length).toBe(86)
})

test('what an agent was told can neither be changed nor taken back', async () => {
  const { fleet, save, comment } = await inReview()
  await save('comments', aComment('c1', { sent_at: NOW }), aComment('c2'))
  const words = `Comment c1 was sent to the agent at ${NOW}, so it cannot be changed.`
  await expect(editComment(fleet, ask(), 'c1', { body: 'x' })).rejects.toThrow(words)
  await expect(deleteComment(fleet, ask(), 'c1')).rejects.toThrow(words)
  expect(await editComment(fleet, ask(), 'c2', { body: 'x' })).toMatchObject({ body: 'x' })
  await deleteComment(fleet, ask(), 'c2')
  expect(await comment('c2')).toBeUndefined()
  await expect(deleteComment(fleet, ask(), 'c2')).rejects.toThrow('There is no comment "c2".')
})

test('finished work goes on as a new one, and a mission that landed is opened again', async () => {
  const { fleet, mission } = await inReview({ status: 'done', result: 'landed' })
  await sendBack(fleet, ask(), 'm1', { message: 'More.' })
  expect(await mission()).toMatchObject({ status: 'queued', next: { reason: 'reopen' } })
})
