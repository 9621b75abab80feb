import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ClientConfig } from 'pg'
import { InvalidInput, Unfit } from '../../domain/errors.ts'
import { passwordFromFile } from './pgpass.ts'

/** How the store reaches a PostgreSQL server. */
export interface PostgresSettings {
  engine: 'postgresql'
  /** postgresql://user:password@host:port/database?sslmode=…, or file:<path> for a file that holds one. */
  url: string
  schema?: string
  poolSize?: number
  /** A file of the home that remembers which store it uses. */
  memory?: string
}

export interface Address {
  client: ClientConfig
  schema: string
  poolSize: number
  statementMs: number
  /** For people: the server, the database and the schema. Never the password. */
  words: string
  /** The same as an address, without the password. */
  url: string
}

export const DEFAULT_SCHEMA = 'flotilla'
const DEFAULT_POOL = 10
const CONNECT_SECONDS = 5
const STATEMENT_MS = 15_000
/** What libpq calls them, where it knows them. */
const PARAMETERS = [
  ...['host', 'port', 'user', 'password', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'connect_timeout'],
  ...['statement_timeout', 'schema', 'pool_size'],
]
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full']

/** Throws an error that names the part that is wrong, and no other part: one of them is the password. */
export function addressOf(settings: PostgresSettings): Address {
  const text = settings.url.startsWith('file:') ? inFile(settings.url.slice('file:'.length)) : settings.url
  const url = parsed(text)
  const said = (name: string): string | undefined => url.searchParams.get(name) ?? undefined
  for (const name of url.searchParams.keys())
    if (!PARAMETERS.includes(name))
      throw wrong(`${name.slice(0, 40)} is not a parameter`, `It knows ${PARAMETERS.join(', ')}.`)
  const host = said('host') ?? (decodeURIComponent(url.hostname).replace(/^\[|\]$/g, '') || 'localhost')
  const port = wholeNumber('port', said('port') ?? (url.port || '5432'), 1, 65_535)
  const user = said('user') ?? (decodeURIComponent(url.username) || undefined)
  const given = said('password') ?? (decodeURIComponent(url.password) || process.env.PGPASSWORD)
  const password = given || (passwordFromFile(process.env) as ClientConfig['password'])
  const database = decodeURIComponent(url.pathname.slice(1)) || user
  if (!database) throw wrong('it names no database', 'postgresql://user@host:5432/database')
  const schema = settings.schema ?? said('schema') ?? DEFAULT_SCHEMA
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith('pg_'))
    throw new InvalidInput('schema', 'it has small letters, digits and _, and begins with a letter')
  const connect = wholeNumber('connect_timeout', said('connect_timeout') ?? String(CONNECT_SECONDS), 1, 60)
  const isSocket = host.startsWith('/')
  return {
    client: {
      ...{ host, port, user, password, database },
      ssl: isSocket ? false : tlsOf(host, said),
      connectionTimeoutMillis: connect * 1000,
      keepAlive: true,
      application_name: 'flotilla',
    },
    schema,
    poolSize: settings.poolSize ?? wholeNumber('pool_size', said('pool_size') ?? String(DEFAULT_POOL), 1, 200),
    statementMs: wholeNumber('statement_timeout', said('statement_timeout') ?? String(STATEMENT_MS), 100, 600_000),
    words: `the database ${database} at ${isSocket ? host : `${isIP(host) === 6 ? `[${host}]` : host}:${port}`}, schema ${schema}`,
    url: withoutPassword(url, schema),
  }
}

/** A command line is shown to everybody on the machine, so it has no password. */
export function requireNoPassword(text: string): string {
  if (text.startsWith('file:')) return text
  const url = parsed(text)
  if (url.password === '' && !url.searchParams.has('password')) return text
  throw new InvalidInput('address', 'a password on a command line can be seen by everybody on this machine', {
    try: 'Leave it out and set PGPASSWORD or use ~/.pgpass. Or put the whole address into a file: file:<path>',
  })
}

function inFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw new Unfit(`The file with the address of the store cannot be read: ${path}`, { cause })
  }
}

function parsed(text: string): URL {
  if (!/^postgres(ql)?:\/\//.test(text))
    throw wrong('it does not begin with postgresql://', 'postgresql://user@host:5432/database')
  try {
    // A socket is named by its folder, so there may be no host.
    const url = new URL(text.replace(/^postgres(ql)?:/, 'http:').replace(/^http:\/\/\//, 'http://localhost/'))
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part)
    if (!text.startsWith('postgresql:///') && !text.startsWith('postgres:///')) return url
    if (!url.searchParams.has('host')) url.searchParams.set('host', 'localhost')
    return url
  } catch {
    // The error of the parser would have the whole address in it, with the password.
    throw wrong('it is not a valid address', 'Letters such as @ : / # in a password are written as %40 %3A %2F %23.')
  }
}

function withoutPassword(url: URL, schema: string): string {
  const bare = new URL(url)
  bare.password = ''
  bare.searchParams.delete('password')
  bare.searchParams.set('schema', schema)
  return bare.href.replace(/^http:/, 'postgresql:')
}

/**
 * As libpq understands `sslmode`. Without it, a server on another machine must prove who it is; one on this machine is
 * reached without TLS.
 */
function tlsOf(host: string, said: (name: string) => string | undefined): ClientConfig['ssl'] {
  const isHere = host === 'localhost' || host === '::1' || /^127\./.test(host)
  const mode = said('sslmode') ?? (isHere ? 'disable' : 'verify-full')
  if (!SSL_MODES.includes(mode)) throw wrong('sslmode is not known', `It can be ${SSL_MODES.join(', ')}.`)
  if (mode === 'disable') return false
  const read = (name: string): string | undefined => {
    const path = said(name)
    if (!path) return undefined
    try {
      return readFileSync(path, 'utf8')
    } catch (cause) {
      throw new Unfit(`The ${name} of the store cannot be read: ${path}`, { cause })
    }
  }
  const ca = read('sslrootcert')
  return {
    ...{ ca, cert: read('sslcert'), key: read('sslkey') },
    rejectUnauthorized: mode !== 'require' || ca !== undefined,
    // Only verify-full compares the name.
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  }
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw wrong(`${name} is not a whole number from ${min} to ${max}`)
}

const wrong = (problem: string, advice?: string): InvalidInput =>
  new InvalidInput('address of the store', problem, advice ? { try: advice } : {})
