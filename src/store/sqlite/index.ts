/** The SQLite engine: one file, and the lock of a home beside it. */
export { copySqlite } from './copy.ts'
export { type OnDamage, openSqlite } from './engine.ts'
export { examineSqlite, repairIndexes, type StoreHealth } from './examine.ts'
export { DaemonInfo, isHeld, type Lock, readDaemon, takeLock } from './lock.ts'
