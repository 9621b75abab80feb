import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { EVENT_KINDS } from '../../src/domain/records/event.ts'
import type { PlanView } from '../../src/operations/plans.ts'
import type { MissionView } from '../../src/operations/views.ts'
import { COLLECTIONS, type Collection } from '../../src/store/collections.ts'
import { aFleet, ROOT, type TestFleet } from '../kit/fleet.ts'

/** Where the home was made. A folder name of the same length replaces it in every file, even in the store. */
const MADE_IN = '/tmp/flotilla-test-cE7ce3'

/** A home as version 0.1.0 left it when its server and one agent were killed. */
async function earlierHome(): Promise<TestFleet> {
  const root = realpathSync(mkdtempSync(MADE_IN.slice(0, -6)))
  execFileSync('tar', ['xzf', join(ROOT, 'test/fixtures/homes/0.1.0.tgz'), '-C', root])
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const file = join(root, name)
    if (!statSync(file).isFile()) continue
    const bytes = readFileSync(file, 'latin1')
    if (bytes.includes(MADE_IN)) writeFileSync(file, bytes.replaceAll(MADE_IN, root), 'latin1')
  }
  const fleet = await aFleet({ root })
  onTestFinished(() => fleet.remove())
  return fleet
}

test('a home of version 0.1.0 opens, is read as a whole, and goes on', { timeout: 180_000 }, async () => {
  const fleet = await earlierHome()
  for (const collection of Object.keys(COLLECTIONS) as Collection[])
    await fleet.fleet.store.find(collection, { index: 'id', limit: 500 })
  expect([...fleet.fleet.store.unreadable]).toEqual([])
  const events = await fleet.events()
  expect(events).toHaveLength(84)
  expect(events.filter(({ kind }) => !EVENT_KINDS.includes(kind))).toEqual([])

  await fleet.start()
  const { missions } = await fleet.call<{ missions: MissionView[] }>('list_missions', { limit: 100 })
  const named = (title: string) => missions.find(each => each.title === title)!
  const statuses = Object.fromEntries(missions.map(({ title, status }) => [title, status]))
  expect(statuses).toMatchObject({
    ...{ done: 'done', undone: 'review', review: 'review', failed: 'failed', draft: 'draft', cancelled: 'cancelled' },
    ...{ scheduled: 'draft', asks: 'needs_input', 'workflow: one': 'done', 'workflow: two': 'done' },
  })

  const { comments } = await fleet.show(named('review').id)
  expect(comments).toMatchObject([{ body: 'Why rye?', path: 'rye.txt', line: 1 }])
  for (const title of ['review', 'undone']) {
    await fleet.land(named(title).id)
    await fleet.until(named(title).id, 'done')
  }
  const { questions } = await fleet.call<{ questions: { id: string }[] }>('list_inbox')
  await fleet.call('answer_question', { question_id: questions[0]!.id, text: 'Wheat' })
  await fleet.until(named('asks').id, 'done')
  expect((await fleet.until(named('killed').id, 'done')).sessions).toMatchObject([{ outcome: 'lost' }, {}])
  await fleet.until(named('waits').id, 'done')

  const { plans } = await fleet.call<{ plans: { id: string }[] }>('list_plans', { status: 'proposed' })
  const plan = await fleet.call<PlanView>('approve_plan', { plan_id: plans[0]!.id })
  await fleet.until(plan.missions[0]!.mission_id!, 'done')
  const { workflows } = await fleet.call<{ workflows: object[] }>('list_workflows')
  expect(workflows).toMatchObject([{ status: 'done' }])
  const { code, stdout } = await fleet.fleetCommand(['status'])
  expect([code, stdout]).toEqual([0, expect.not.stringContaining('Stuck')])
  const landed = execFileSync('git', ['ls-tree', '--name-only', 'main'], { cwd: join(fleet.root, 'repo') }).toString()
  expect(landed.trim().split('\n')).toEqual([
    'README.md',
    'bread.txt',
    'cake.txt',
    'flour.txt',
    'half.txt',
    'later.txt',
    'roll.txt',
    'rye.txt',
    'whole.txt',
  ])
})
