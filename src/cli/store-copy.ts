import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { STORE_MEMORY, storeOf } from '../config/store.ts'
import { wholeAddress } from '../config/store-elsewhere.ts'
import { InvalidInput, NotAllowed, StoreTrouble } from '../domain/errors.ts'
import { LEASE_MS } from '../domain/rules/lease.ts'
import { type Home, openHome } from '../platform/home.ts'
import {
  fillSqlite,
  openStore,
  type Store,
  serverInWords,
  type Tally,
  takeLock,
  tallyOf,
  withContentsOf,
  withLastContentsOf,
} from '../store/index.ts'
import type { PostgresSettings } from '../store/postgres/index.ts'
import { homeHere, type Where } from './server.ts'

export interface Copied extends Omit<Tally, 'digest'> {
  from: string
  to: string
  /** Where the store file of before is now. */
  aside: string | null
}

/**
 * Moves the records and events of a home to another engine. Nobody else may use the home meanwhile. The home changes
 * over in one step, after the copy was compared; until then everything is as before, so a copy that was cut off is made
 * again.
 */
export async function copyStore(where: Where, wish: { to?: string; from?: string | true }): Promise<Copied> {
  if ((wish.to === undefined) === (wish.from === undefined))
    throw new InvalidInput('store', 'name one of --to and --from', { try: 'fleet store copy --to <address>' })
  const home = openHome(homeHere(where, 'fleet store copy'))
  const lock = takeLock(home.path)
  if (!lock)
    throw new NotAllowed('A running fleet holds this home.', { try: 'fleet down, then the same command again' })
  try {
    return wish.to !== undefined
      ? await toPostgres(home, where.env, wish.to)
      : await toSqlite(home, where.env, wish.from!)
  } finally {
    lock.release()
  }
}

async function toPostgres(home: Home, env: NodeJS.ProcessEnv, url: string): Promise<Copied> {
  const { addressOf, fillPostgres, remember } = await import('../store/postgres/index.ts')
  if (existsSync(join(home.path, STORE_MEMORY)))
    throw new NotAllowed('The records of this home are in PostgreSQL already.', { try: 'fleet doctor' })
  const settings = await addressFrom(url, env)
  // An old store is brought up to date first: the copy has the newest form.
  await (await openStore({ engine: 'sqlite', file: home.storeFile }, { migrate: true })).close()
  const address = addressOf(settings)
  const tally = await withLastContentsOf(home.storeFile, async contents => {
    const wanted = await tallyOf(contents)
    const filled = await fillPostgres(settings, contents, wanted)
    requireSame(wanted, filled.tally)
    // From here on the records are there, and the old file is only put aside.
    remember(join(home.path, STORE_MEMORY), { url: settings.url, address, id: filled.id })
    return wanted
  })
  return { ...countsOf(tally), from: home.storeFile, to: address.words, aside: putAside(home) }
}

async function toSqlite(home: Home, env: NodeJS.ProcessEnv, from: string | true): Promise<Copied> {
  const { addressOf, withContentsOfPostgres } = await import('../store/postgres/index.ts')
  const isInPostgres = existsSync(join(home.path, STORE_MEMORY))
  if (existsSync(`${home.storeFile}.made`) && !isInPostgres)
    throw new NotAllowed(`The target is not empty: this home has records of its own in ${home.storeFile}.`, {
      try: 'Choose another home: --home <folder>',
    })
  const settings = from === true ? ownAddress(home, env) : await addressFrom(from, env)
  const store = await openStore(settings, { migrate: true })
  try {
    await requireUnused(store)
  } finally {
    await store.close()
  }
  const half = `${home.storeFile}.being-copied`
  const tally = await withContentsOfPostgres(settings, async contents => {
    const wanted = await tallyOf(contents)
    await fillSqlite(half, contents)
    requireSame(wanted, await withContentsOf(half, tallyOf))
    return wanted
  })
  // A file that is there while the records are in PostgreSQL is older than they are.
  const aside = putAside(home)
  // The reading left them there, without content.
  for (const beside of ['-shm', '-wal']) rmSync(`${half}${beside}`, { force: true })
  renameSync(half, home.storeFile)
  writeFileSync(`${home.storeFile}.made`, `${new Date().toISOString()}\n`, { mode: 0o600 })
  rmSync(join(home.path, STORE_MEMORY), { force: true })
  return { ...countsOf(tally), from: addressOf(settings).words, to: home.storeFile, aside }
}

/** The lock of a home says nothing of servers in other homes. What they write after the copy would be in none. */
async function requireUnused({ heartbeats }: Store): Promise<void> {
  const server = (await heartbeats?.servers())?.find(({ quietMs }) => quietMs < LEASE_MS)
  if (server)
    throw new NotAllowed(`A running server uses these records: ${serverInWords(server)}.`, {
      try: 'Stop it there: fleet down. Then the same command again.',
    })
}

async function addressFrom(url: string, env: NodeJS.ProcessEnv): Promise<PostgresSettings> {
  const { requireNoPassword } = await import('../store/postgres/index.ts')
  const schema = env.POSTGRESQL_SCHEMA
  return { engine: 'postgresql', url: wholeAddress(requireNoPassword(url)), ...(schema && { schema }) }
}

function ownAddress(home: Home, env: NodeJS.ProcessEnv): PostgresSettings {
  const choice = storeOf(home, env)
  if (choice.engine === 'postgresql') return choice
  throw new NotAllowed('The records of this home are in SQLite already.', { try: 'fleet store copy --from <address>' })
}

function requireSame(wanted: Tally, there: Tally): void {
  if (wanted.digest === there.digest) return
  throw new StoreTrouble(
    `The copy differs: ${there.records} of ${wanted.records} records and ${there.events} of ${wanted.events} events. This home still uses the original.`,
    { try: 'Nobody else may write either of them meanwhile. Then copy into another schema or home.' },
  )
}

const countsOf = ({ records, events }: Tally) => ({ records, events })

/** The store file of before is kept, under a name that nobody opens. */
function putAside({ storeFile }: Home): string | null {
  if (!existsSync(storeFile)) return null
  const aside = `${storeFile}.before-${new Date().toISOString().replace(/[:.]/g, '-')}`
  renameSync(storeFile, aside)
  for (const end of ['-wal', '-shm', '.made']) rmSync(`${storeFile}${end}`, { force: true })
  return aside
}
