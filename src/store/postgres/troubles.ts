import { InvalidInput, Refusal, StoreTrouble } from '../../domain/errors.ts'
import { Conflict, Unavailable } from '../port.ts'
import type { Address } from './address.ts'

/** The code of an error: five letters of PostgreSQL, or a name of Node such as ECONNREFUSED. */
const codeOf = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code ?? '')
const isFromServer = (error: unknown): boolean => /^[0-9A-Z]{5}$/.test(codeOf(error)) && !codeOf(error).startsWith('E')

/** The server is away, starting, stopping, a standby, or has no room for another connection. It may be back soon. */
const AWAY = ['57P01', '57P02', '57P03', '57P05', '53300', '25006']
const isAway = (code: string): boolean => AWAY.includes(code) || code.startsWith('08')

/** Whether the server refused the statement, so that nothing was written. Otherwise nobody knows. */
export const wasRefused = (error: unknown): boolean => isFromServer(error) && !isAway(codeOf(error))

/** Whether asking again may help. An error in our own code is none of these. */
export function isPassing(error: unknown): boolean {
  if (isOurs(error) || isCertificateError(error)) return false
  return !wasRefused(error) || ['40001', '40P01'].includes(codeOf(error))
}

const isOurs = (error: unknown): boolean =>
  [Refusal, Unavailable, Conflict, TypeError, RangeError].some(kind => error instanceof (kind as ErrorConstructor))

const isCertificateError = (error: unknown): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|UNABLE_TO_GET_ISSUER/.test(codeOf(error)) ||
  /does not support SSL/.test(String((error as Error)?.message))

/** No such schema, table, function or column, or no row where there is always one. */
const GONE = ['3F000', '42P01', '42883', '42703', 'P0002']

/** Whatever is there instead is left alone: somebody may be putting a backup back. */
export const tablesGone = (words: string, cause?: unknown): StoreTrouble =>
  new StoreTrouble(`The tables of the fleet are gone: ${words}.`, {
    try: 'Put the schema back from the backup of the database: the fleet then goes on by itself. To begin anew: fleet down, then remove store.json from the home.',
    cause,
  })

/** Commits take turns, and each must see the one before it. */
export const wrongIsolation = (level: string): StoreTrouble =>
  new StoreTrouble(`The role of the fleet begins its transactions as ${level}; the fleet needs read committed.`, {
    try: "ALTER ROLE <role> SET default_transaction_isolation = 'read committed'",
  })

/** Names the server, never the password: the messages of PostgreSQL and Node do not have it. */
export function explained(error: unknown, { words }: Pick<Address, 'words'>): unknown {
  if (isOurs(error)) return error
  const code = codeOf(error)
  const said = (error as Error)?.message ?? String(error)
  // Somebody may rotate a password while agents work: no mission fails for it.
  const trouble = (message: string, advice: string) => new StoreTrouble(message, { try: advice, cause: error })
  if (/does not support SSL/.test(said))
    return trouble(
      `PostgreSQL does not speak TLS in ${words}.`,
      'Turn TLS on there. If nobody else can listen on that network, add sslmode=disable to the address.',
    )
  if (isCertificateError(error))
    return trouble(
      `PostgreSQL could not prove who it is in ${words}: ${said}.`,
      'Name its certificate authority: add sslrootcert=<file> to the address. sslmode=require encrypts without a proof.',
    )
  if (code.startsWith('28') || /SCRAM|no password supplied|password must be a string/.test(said))
    return trouble(
      `PostgreSQL does not let this user in, or the password is wrong: ${words}.`,
      'Check the user and the password in the address, PGPASSWORD or ~/.pgpass, which only you may read (chmod 600).',
    )
  if (code === '3D000') return trouble(`There is no such database: ${words}.`, 'Create it: createdb <name>')
  if (code === '42501')
    return trouble(
      `The role of the fleet may not do this in ${words}: ${said}.`,
      'Give the role the schema: CREATE SCHEMA <schema> AUTHORIZATION <role>',
    )
  if (GONE.includes(code)) return tablesGone(words, error)
  if (code === '53100') return trouble('The disk of PostgreSQL is full; nothing was written.', 'Free some space there.')
  if (code.startsWith('XX')) return trouble(`PostgreSQL finds its files damaged: ${said}.`, 'Restore its backup.')
  if (code === '54000') return new InvalidInput('record', 'a name or path in it is too long for an index')
  if (code === '08P01' || code === '0A000' || /pooling mode/.test(said))
    return trouble(
      `What is between the fleet and PostgreSQL does not let this pass (${words}): ${said}.`,
      'PgBouncer works in its modes session and transaction, not in statement. Or name PostgreSQL itself in the address.',
    )
  if (code === '40001') return wrongIsolation('repeatable read or serializable')
  if (code === '55P03' || code === '57014')
    return new Unavailable(`Another transaction holds the store for too long: ${words}.`, {
      try: 'Find it in pg_stat_activity, and end it.',
      cause: error,
    })
  if (wasRefused(error)) return error
  return new Unavailable(`PostgreSQL does not answer: ${words}${reasonOf(code, said)}.`, {
    try: 'Check that it runs and can be reached. If you asked for a change, it may have been written: look before you ask again.',
    cause: error,
  })
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOENT: 'there is no socket',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name cannot be resolved',
  ETIMEDOUT: 'no answer in time',
  ECONNRESET: 'the connection was cut',
  '53300': 'it has too many connections',
  '25006': 'it cannot be written: it is a standby, or set to read only',
}
const reasonOf = (code: string, said: string): string => {
  const reason = REASONS[code] ?? (isFromServer({ code }) ? said : /time/i.test(said) ? 'no answer in time' : '')
  return reason && ` (${reason})`
}
