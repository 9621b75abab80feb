/** A process that writes to a store. */
import { writeMany } from '../writer.testkit.ts'
import { openSqlite } from './engine.ts'

const [file, writer, commits] = process.argv.slice(2) as [string, string, string]
await writeMany(await openSqlite(file, { migrate: false }), writer, Number(commits))
