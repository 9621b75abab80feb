/** A process that writes to a store. Each commit adds a record and an event, and increments a shared count. */
import { Conflict } from '../port.ts'
import { aMission, anEvent } from '../samples.testkit.ts'
import { openSqlite } from './engine.ts'

const [file, writer, commits] = process.argv.slice(2) as [string, string, string]
const store = await openSqlite(file, { migrate: false })
for (let n = 0; n < Number(commits); n++) {
  while (!(await written(n))) {}
  console.log(`${writer}-${n}`)
}
await store.close()

async function written(n: number): Promise<boolean> {
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
