import type { NewEvent } from '../domain/records/event.ts'
import { Mission } from '../domain/records/mission.ts'
import { type Batch, Conflict, type Store } from './port.ts'

const TIME = '2026-01-01T00:00:00.000Z'

export const aMission = (id: string, fields: Partial<Mission> = {}): Mission => ({
  ...Mission.parse({
    id: 'a',
    project_id: 'p',
    title: 'a mission',
    prompt: { inline: 'do it' },
    status: 'draft',
    created_at: TIME,
    updated_at: TIME,
  }),
  id,
  ...fields,
})

export const anEvent = (fields: Partial<NewEvent> = {}): NewEvent => ({
  kind: 'mission_created',
  time: TIME,
  actor: 'person',
  ...fields,
})

/** Tries again, because a hostile engine refuses some commits at random. */
export async function insist(store: Pick<Store, 'commit'>, batch: Batch): Promise<void> {
  for (let left = 40; ; left--) {
    try {
      return await store.commit(batch)
    } catch (error) {
      if (!(error instanceof Conflict) || left === 0) throw error
    }
  }
}
