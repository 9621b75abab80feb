/** The SQLite engine: one file, and the lock of a home beside it. */

export { fillSqlite, withContentsOf, withLastContentsOf } from './contents.ts'
export { copySqlite } from './copy.ts'
export { openSqlite } from './engine.ts'
export { examineSqlite, repairIndexes } from './examine.ts'
export { DaemonInfo, isHeld, type Lock, readDaemon, takeLock, writeDaemon } from './lock.ts'
