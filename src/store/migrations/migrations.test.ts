import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Unfit } from '../../domain/errors.ts'
import { LEASE, MIGRATED } from '../../domain/records/store.ts'
import { openStore, type StoreSettings } from '../open.ts'
import { Conflict, type Store, StoreOutdated } from '../port.ts'
import { aSchema, SHARED } from '../postgres/schema.testkit.ts'
import { aMission, insist } from '../samples.testkit.ts'
import { aFolder } from '../sqlite/processes.testkit.ts'
import { bringRecordsUpToDate, type Step } from './index.ts'

let seed = 0
const ENGINES: Record<string, () => StoreSettings> = {
  sqlite: () => ({ engine: 'sqlite', file: join(aFolder(), 'store.db') }),
  memory: () => ({ engine: 'memory' }),
  'hostile memory': () => ({ engine: 'memory', hostile: { seed: ++seed } }),
  ...(SHARED && { postgresql: () => aSchema() }),
}

describe.each(Object.entries(ENGINES))('on the %s engine', (_name, settings) => {
  /** The steps that the opened store already has fail if they run again; after them come those of the test. */
  async function aStore(...more: Step[]): Promise<{ store: Store; steps: Step[]; first: number }> {
    const store = await openStore(settings(), { migrate: true })
    onTestFinished(() => store.close())
    const first = (await store.get('migrations', MIGRATED))!.value.steps
    const known = Array.from({ length: first }, () => async () => {
      throw new Error('done before')
    })
    return { store, steps: [...known, ...more], first }
  }
  const done = async (store: Store) => (await store.get('migrations', MIGRATED))!.value.steps
  const makes =
    (id: string): Step =>
    async store => {
      if (!(await store.get('missions', id))) await insist(store, { changes: [put(id)] })
    }
  const put = (id: string) => ({ put: 'missions' as const, value: aMission(id), expects: 'absent' as const })

  test('a store opened with migrate has the record that daemons check', async () => {
    const { store } = await aStore()
    expect((await store.get('lease', LEASE))!.value).toEqual({
      id: LEASE,
      epoch: 0,
      taken_at: null,
      home: null,
      server: null,
    })
  })

  test('each step is taken once, in order, and others are refused until then', async () => {
    const [one, two] = [vi.fn(makes('one')), vi.fn(makes('two'))]
    const { store, steps, first } = await aStore(one, two)
    await expect(bringRecordsUpToDate(store, { migrate: false }, steps)).rejects.toBeInstanceOf(StoreOutdated)
    expect(await store.get('missions', 'one')).toBeUndefined()
    await bringRecordsUpToDate(store, { migrate: true }, steps)
    one.mockClear()
    two.mockClear()
    await bringRecordsUpToDate(store, { migrate: true }, steps)
    await bringRecordsUpToDate(store, { migrate: false }, steps)
    expect(one).not.toHaveBeenCalled()
    expect(two).not.toHaveBeenCalled()
    expect(await store.get('missions', 'two')).toBeDefined()
    expect(await done(store)).toBe(first + 2)
  })

  test('a failed step runs again next time, and those before it do not', async () => {
    let broken = true
    const one = vi.fn(makes('one'))
    const half: Step = async store => {
      await makes('half')(store)
      if (broken) throw new Error('the disk is full')
    }
    const { store, steps, first } = await aStore(one, half)
    await expect(bringRecordsUpToDate(store, { migrate: true }, steps)).rejects.toThrow('the disk is full')
    expect(await done(store)).toBe(first + 1)
    one.mockClear()
    broken = false
    await bringRecordsUpToDate(store, { migrate: true }, steps)
    expect(one).not.toHaveBeenCalled()
    expect(await done(store)).toBe(first + 2)
  })

  test('if two processes migrate at once, each step is recorded once', async () => {
    const { store, steps, first } = await aStore(makes('one'), makes('two'))
    await Promise.all([1, 2].map(() => bringRecordsUpToDate(store, { migrate: true }, steps)))
    expect(await done(store)).toBe(first + 2)
  })

  test('a store with steps that this program does not know is refused, whoever opens it', async () => {
    const { store, steps } = await aStore(makes('one'))
    await bringRecordsUpToDate(store, { migrate: true }, steps)
    for (const migrate of [true, false]) {
      const refusal = await bringRecordsUpToDate(store, { migrate }).catch(error => error)
      expect(refusal).toBeInstanceOf(Unfit)
      expect(refusal).not.toBeInstanceOf(Conflict)
      expect(refusal.hint).toContain('newer')
    }
  })
})
