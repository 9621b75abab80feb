import { delimiter, join } from 'node:path'
import { isSettingVariable } from '../config/sources.ts'
import { PROVIDER_SECRET } from '../fleet/people/provider.ts'
import { PROGRAM_FOLDER } from '../platform/version.ts'

/** A server that is started in the background needs the address of its store. Agents do not get it: `withoutStore`. */
const KEPT = new Set(['FLEET_HOME', 'FLEET_DEBUG', 'FLEET_STORE', 'FLEET_STORE_FILE', PROVIDER_SECRET])
const isKept = (name: string): boolean => !name.startsWith('FLEET_') || KEPT.has(name) || isSettingVariable(name)

/** A server started from inside a session must not pass that session's marks and token on to its own agents. */
export function withoutSession(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)))
}

/**
 * Makes the C library give freed memory back: a server frees much after its start, and its threads would each keep their
 * part. Only the environment can say so, so that whoever starts a server does: here and in bin/fleet.js.
 */
export const SMALL_MEMORY: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_MMAP_THRESHOLD_: '131072',
}

/** If `fleet` is only an alias in the person's shell, agents find it in the program's own folder, the last on their PATH. */
export function environmentForAgents(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folders = [...(env.PATH ? [env.PATH] : []), join(PROGRAM_FOLDER, 'bin')]
  const isTheirs = (name: string, value: string | undefined) => SMALL_MEMORY[name] !== value && name !== PROVIDER_SECRET
  const theirs = Object.entries(withoutSession(env)).filter(([name, value]) => isTheirs(name, value))
  return { ...Object.fromEntries(theirs), PATH: folders.join(delimiter) }
}
