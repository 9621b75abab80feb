import type { EffectName } from '../../platform/effects.ts'
import type { Batch } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { type Place, ScopedStore } from './scoped-store.ts'
import { type Seal, sealOf } from './sealing.ts'

/**
 * The fleet as somebody sees it who may see some projects only, or some teams in them. Nothing of any other exists in it,
 * so whatever is asked of it can neither show nor touch one. The few places that are shared (slots, budgets) use `view.whole`.
 */
export function viewOf(fleet: Fleet, place: Place): Fleet {
  let sealing: Promise<Seal> | undefined
  const seal = () => {
    sealing ??= sealOf(fleet.keys)
    return sealing
  }
  const store = new ScopedStore(fleet.store, place, seal)
  return Object.create(fleet, {
    store: { value: store },
    view: { value: { ...place, whole: fleet } },
    commit: {
      value: async (name: EffectName, batch: Batch) => {
        store.requireOwn(batch)
        await fleet.commit(name, batch)
      },
    },
    ...(fleet.daemon && { daemon: { value: viewOf(fleet.daemon, place) } }),
  })
}
