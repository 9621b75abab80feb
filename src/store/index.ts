/** Where records, events, long texts and the home's lease are kept. */
export { type Blobs, type BlobText, openBlobs } from './blobs.ts'
export { COLLECTIONS, type Collection, type RecordOf } from './collections.ts'
export { Holder, isHeld, type Lease, readHolder, takeLease } from './lease.ts'
export { memoryStore } from './memory/engine.ts'
export * from './port.ts'
export { openSqlite } from './sqlite/engine.ts'
export { examineSqlite, repairIndexes } from './sqlite/examine.ts'
export { StoreOutdated } from './sqlite/schema.ts'
