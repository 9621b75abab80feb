import { Conflict, type Store } from './port.ts'
import { aMission, anEvent } from './samples.testkit.ts'

/** Each commit adds a record and an event, and increments a shared count. Prints what is written. */
export async function writeMany(store: Store, writer: string, commits: number): Promise<void> {
  for (let n = 0; n < commits; n++) {
    while (!(await isWritten(store, writer, n))) {}
    console.log(`${writer}-${n}`)
  }
  await store.close()
}

async function isWritten(store: Store, writer: string, n: number): Promise<boolean> {
  const count = (await store.get('missions', 'count'))!
  try {
    await store.commit({
      changes: [
        { put: 'missions', value: aMission(`${writer}-${n}`), expects: 'absent' },
        { put: 'missions', value: { ...count.value, sessions: count.value.sessions + 1 }, expects: count.version },
      ],
      events: [anEvent({ data: { writer, n } })],
    })
    return true
  } catch (error) {
    if (error instanceof Conflict) return false
    throw error
  }
}
