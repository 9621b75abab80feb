import { LEASE } from '../../domain/records/store.ts'
import { Damaged, type Store } from '../port.ts'

/** Makes the record that every commit of a daemon checks. A damaged one is written again when the lease is taken. */
export async function makeLease(store: Store): Promise<void> {
  const isThere = await store.get('lease', LEASE).catch(error => error instanceof Damaged || Promise.reject(error))
  if (isThere) return
  await store.commit({
    changes: [
      { put: 'lease', value: { id: LEASE, epoch: 0, taken_at: null, home: null, server: null }, expects: 'absent' },
    ],
  })
}
