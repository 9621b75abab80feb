/** The PostgreSQL engine. Its library is loaded with it, so nothing imports this folder at the top of a file. */
export { addressOf, type PostgresSettings, requireNoPassword } from './address.ts'
export { fillPostgres, withContentsOfPostgres } from './contents.ts'
export { openPostgres, remember } from './engine.ts'
export { examinePostgres, repairPostgres } from './examine.ts'
