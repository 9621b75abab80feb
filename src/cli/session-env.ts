import { isSettingVariable } from '../settings.ts'

const KEPT = new Set(['FLEET_HOME', 'FLEET_DEBUG'])
const isKept = (name: string): boolean => !name.startsWith('FLEET_') || KEPT.has(name) || isSettingVariable(name)

/** A server started from inside a session must not pass that session's marks and token on to its own agents. */
export function withoutSession(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)))
}
