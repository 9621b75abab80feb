import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod'
import { InvalidInput, Unfit } from '../domain/errors.ts'

/**
 * Which engine keeps the records of a home, and how to reach it. This is known before any other setting, because those
 * are in the store.
 */
export type StoreChoice =
  | { engine: 'sqlite'; file: string }
  | { engine: 'postgresql'; url: string; schema?: string; poolSize?: number; memory: string }

const Memory = z.object({ engine: z.literal('postgresql').default('postgresql'), url: z.string() })

const HOW = 'Set STORAGE_BACKEND=postgresql and DATABASE_URL=postgresql://user:password@host:5432/database'

/** The store of a home for which something says where it is. Nothing that this throws has a password in it. */
export function storeElsewhere(home: { memory: string; storeFile: string }, env: NodeJS.ProcessEnv): StoreChoice {
  const chosen = chosenIn(env)
  const remembered = rememberedIn(home.memory)
  const isInSqlite = existsSync(`${home.storeFile}.made`)
  if (chosen?.url !== undefined) {
    if (isInSqlite && !remembered)
      throw new Unfit(`The records of this home are in SQLite (${home.storeFile}), but ${chosen.by} says PostgreSQL.`, {
        try: `Move them there: fleet down, then fleet store copy --to <address>. Or unset ${chosen.by}.`,
      })
    return postgres(home.memory, wholeAddress(chosen.url), env)
  }
  if (!remembered) return { engine: 'sqlite', file: home.storeFile }
  if (chosen)
    throw new Unfit(`The records of this home are in PostgreSQL (${home.memory}), but ${chosen.by} says SQLite.`, {
      try: `Move them here: fleet down, then fleet store copy --from. Or unset ${chosen.by}.`,
    })
  return postgres(home.memory, remembered, env)
}

/** The home remembers it for commands in other folders, so a file is named from the root. */
export const wholeAddress = (url: string): string =>
  url.startsWith('file:') ? `file:${resolve(url.slice('file:'.length))}` : url

/** For a server that starts in another folder. */
export const withWholeAddress = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  ...(env.FLEET_STORE_FILE && { FLEET_STORE_FILE: resolve(env.FLEET_STORE_FILE) }),
  ...(env.FLEET_STORE && { FLEET_STORE: wholeAddress(env.FLEET_STORE) }),
})

/** What the environment says, and by which variable. Without an address it is SQLite. */
function chosenIn(env: NodeJS.ProcessEnv): { url?: string; by: string } | undefined {
  if (env.FLEET_STORE_FILE) return { url: `file:${env.FLEET_STORE_FILE}`, by: 'FLEET_STORE_FILE' }
  if (env.FLEET_STORE === 'sqlite') return { by: 'FLEET_STORE' }
  if (env.FLEET_STORE) return { url: env.FLEET_STORE, by: 'FLEET_STORE' }
  const backend = env.STORAGE_BACKEND?.toLowerCase()
  if (!backend) return undefined
  if (backend === 'sqlite') return { by: 'STORAGE_BACKEND' }
  if (backend !== 'postgresql' && backend !== 'postgres')
    throw new InvalidInput('STORAGE_BACKEND', 'it can be sqlite or postgresql', { try: HOW })
  // DATABASE_URL alone chooses nothing: it is often there for another program.
  const url = env.DATABASE_URL || env.POSTGRESQL_URL
  if (!url) throw new InvalidInput('DATABASE_URL', 'STORAGE_BACKEND is postgresql, but no address is set', { try: HOW })
  return { url, by: 'STORAGE_BACKEND' }
}

function postgres(memory: string, url: string, env: NodeJS.ProcessEnv): StoreChoice {
  const poolSize = env.POSTGRESQL_POOL_SIZE ? Number(env.POSTGRESQL_POOL_SIZE) : undefined
  if (poolSize !== undefined && !(Number.isInteger(poolSize) && poolSize >= 1 && poolSize <= 200))
    throw new InvalidInput('POSTGRESQL_POOL_SIZE', 'it is a whole number from 1 to 200')
  return {
    ...{ engine: 'postgresql', url, memory },
    ...(env.POSTGRESQL_SCHEMA && { schema: env.POSTGRESQL_SCHEMA }),
    ...(poolSize && { poolSize }),
  }
}

function rememberedIn(file: string): string | undefined {
  if (!existsSync(file)) return undefined
  try {
    return Memory.parse(JSON.parse(readFileSync(file, 'utf8'))).url
  } catch (cause) {
    throw new Unfit(`The file ${file} does not say where the records of this home are.`, {
      try: 'It contains: {"url": "postgresql://user@host:5432/database?schema=flotilla"}',
      cause,
    })
  }
}
