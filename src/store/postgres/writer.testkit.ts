/** A process that writes to a store on PostgreSQL: see sqlite/writer.testkit.ts. */
import { openStore } from '../open.ts'
import { writeMany } from '../writer.testkit.ts'

const [settings, writer, commits] = process.argv.slice(2) as [string, string, string]
await writeMany(await openStore(JSON.parse(settings), { migrate: false }), writer, Number(commits))
