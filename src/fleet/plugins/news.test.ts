import { expect, onTestFinished, test } from 'vitest'
import type { NewEvent } from '../../domain/records/event.ts'
import { Question } from '../../domain/records/talk.ts'
import { aMission, NOW } from '../../domain/samples.testkit.ts'
import type { After } from '../../plugins/contract.ts'
import { aFleet } from '../fleet.testkit.ts'
import type { Fleet } from '../fleet.ts'
import { keep } from '../records.testkit.ts'
import { type Listener, News } from './news.ts'

const event = (kind: NewEvent['kind'], more: Partial<NewEvent> = {}): NewEvent => ({
  ...{ kind, time: NOW, actor: 'fleet', data: {}, ...more },
})

/** A listener for these hooks, and what it was told so far. */
function aListener(fleet: Fleet, cursor: string, hooks: After[], more: Partial<Listener> = {}) {
  const told: string[] = []
  const saved: string[] = []
  const faults: string[] = []
  const waits: { count: number; done: () => void }[] = []
  const news = new News(fleet, {
    actor: 'plugin:mine',
    cursor,
    listens: hook => hooks.includes(hook),
    save: async cursor => void saved.push(cursor),
    onFault: error => void faults.push(String(error)),
    ...more,
    tell: async (hook, what) => {
      await more.tell?.(hook, what)
      told.push(`${hook} ${what.event.kind} ${what.mission?.title ?? null}`)
      for (const { count, done } of waits) if (told.length >= count) done()
    },
  })
  const stop = async () => {
    news.halt()
    await news.stopped()
  }
  onTestFinished(stop)
  /** Resolves once it was told this many things. */
  const hears = (count: number): Promise<void> =>
    new Promise(done => (told.length >= count ? done() : waits.push({ count, done })))
  return { news, told, saved, faults, hears, stop }
}

const happen = (fleet: Fleet, ...events: NewEvent[]) => fleet.store.commit({ changes: [], events })

test('it is told what happens, in order, by the hooks it has', async () => {
  const fleet = aFleet()
  await keep(fleet, 'missions', aMission())
  const { told, hears } = aListener(fleet, await fleet.store.tail(), ['post_complete', 'post_fail', 'post_plan'])
  const of = { mission_id: 'm1' }
  await happen(fleet, event('session_running', { ...of, data: { status: 'running' } }))
  await happen(fleet, event('landed', { ...of, data: { status: 'done' } }), event('plan_proposed', of))
  await happen(fleet, event('failed', { mission_id: 'gone', data: { status: 'failed' } }))
  await hears(3)
  expect(told).toEqual([
    'post_complete landed a mission',
    'post_plan plan_proposed a mission',
    // The mission is gone, but its failure is told all the same.
    'post_fail failed null',
  ])
})

test('neither what it did itself nor what becomes of plugins is told', async () => {
  const fleet = aFleet()
  const { told, hears } = aListener(fleet, await fleet.store.tail(), ['on_event'])
  await happen(
    fleet,
    event('retried', { actor: 'plugin:mine' }),
    event('plugin_fault', { data: { plugin: 'other' } }),
    event('mission_updated', { actor: 'plugin:other' }),
  )
  await hears(1)
  expect(told).toEqual(['on_event mission_updated null'])
})

test('a question is told while it is open, and not once it was answered', async () => {
  const fleet = aFleet()
  const question = (id: string, status: 'open' | 'answered') =>
    Question.parse({
      ...{ id, mission_id: 'm1', project_id: 'p1', session_id: 's1', kind: 'question', asked_as: id, tool: null },
      ...{ text: { inline: 'Which?' }, status, answer: null, answered_by: null, deadline: null, otherwise: null },
      ...{ created_at: NOW, answered_at: null },
    })
  await keep(fleet, 'questions', question('q1', 'answered'))
  await keep(fleet, 'questions', question('q2', 'open'))
  const texts: unknown[] = []
  const tell: Listener['tell'] = async (_, told) => void texts.push((told as { question?: { text: string } }).question)
  const { hears } = aListener(fleet, await fleet.store.tail(), ['on_question'], { tell })
  await happen(fleet, ...['q1', 'q2', 'q3'].map(question => event('asked', { data: { question } })))
  await hears(1)
  expect(texts).toMatchObject([{ id: 'q2', text: 'Which?' }])
})

test('the next one goes on where it was told last', async () => {
  const fleet = aFleet()
  const first = aListener(fleet, await fleet.store.tail(), ['on_event'])
  await happen(fleet, event('session_running'), event('landed'))
  await first.hears(2)
  await first.stop()
  await happen(fleet, event('failed'))
  const next = aListener(fleet, first.saved.at(-1)!, ['on_event'])
  // The last event that the first listener heard may be told twice, but nothing before it.
  await next.hears(1)
  await happen(fleet, event('kept'))
  while (!next.told.includes('on_event kept null')) await next.hears(next.told.length + 1)
  expect(next.told.slice(-2)).toEqual(['on_event failed null', 'on_event kept null'])
  expect(next.told).not.toContain('on_event session_running null')
})

test('what it was being told when it was stopped is told to the next one again', async () => {
  const fleet = aFleet()
  const from = await fleet.store.tail()
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const tell: Listener['tell'] = () => {
    begun.resolve()
    return gate.promise
  }
  const { news, saved } = aListener(fleet, from, ['on_event'], { tell })
  await happen(fleet, event('session_running'))
  await begun.promise
  news.halt()
  gate.resolve()
  await news.stopped()
  const next = aListener(fleet, saved.at(-1) ?? from, ['on_event'])
  await next.hears(1)
  expect(next.told).toEqual(['on_event session_running null'])
})

test('when telling fails that is a fault, and the same is told again when something happens', async () => {
  const fleet = aFleet()
  const failed = Promise.withResolvers<void>()
  let tries = 0
  const { told, faults, hears } = aListener(fleet, await fleet.store.tail(), ['on_event'], {
    tell: async () => {
      if (++tries === 1) throw new Error('not now')
    },
    onFault: error => {
      faults.push(String(error))
      failed.resolve()
    },
  })
  await happen(fleet, event('session_running'))
  await failed.promise
  await happen(fleet, event('failed'))
  await hears(2)
  expect(told).toEqual(['on_event session_running null', 'on_event failed null'])
  expect(faults).toEqual(['Error: not now'])
})

test('events that were dropped before it heard of them are a fault, and it hears the rest', async () => {
  const fleet = aFleet()
  const from = await fleet.store.tail()
  await happen(fleet, event('session_running'), event('landed'), event('failed'))
  await fleet.store.trimEvents(1)
  const { told, faults, hears } = aListener(fleet, from, ['on_event'])
  await hears(1)
  expect(told).toEqual(['on_event failed null'])
  expect(faults).toEqual(['Error: Events were dropped before it received them.'])
})
