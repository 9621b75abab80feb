/** Stores records, events and long texts, and the home's lease. */
export { type Blobs, type BlobText, openBlobs } from './blobs.ts'
export { COLLECTIONS, type Collection, type KeyPart, type RecordOf } from './collections.ts'
export { type Tally, tallyOf } from './copy.ts'
export type { StoreHealth } from './health.ts'
export { type Lease, LeaseLost, serverInWords, type TimedLease, takeLease, tryLease } from './lease.ts'
export { LaggingStore, memoryStore } from './memory/index.ts'
export { areRecordsUpToDate } from './migrations/index.ts'
export { openStore, openToAsk, type StoreSettings } from './open.ts'
export {
  type Batch,
  type Change,
  type Check,
  Conflict,
  Damaged,
  type EventPage,
  type EventQuery,
  type Heartbeats,
  type Living,
  MAX_COMMIT_ITEMS,
  MAX_RECORD_BYTES,
  type Page,
  type Query,
  type ServerInfo,
  type Store,
  type Stored,
  StoreHeld,
  StoreNewer,
  StoreOutdated,
  Unavailable,
  type Version,
} from './port.ts'
export {
  copySqlite,
  DaemonInfo,
  examineSqlite,
  fillSqlite,
  isHeld,
  type Lock,
  readDaemon,
  repairIndexes,
  takeLock,
  withContentsOf,
  withLastContentsOf,
  writeDaemon,
} from './sqlite/index.ts'
export {
  END_MARK,
  MARK,
  TEXT_KINDS,
  type TextChanges,
  type TextDocument,
  type TextHit,
  type TextKind,
  type TextQuery,
  type TextSource,
  Texts,
} from './texts.ts'
