import { join } from 'node:path'
import { OPERATIONS } from '../../src/operations/index.ts'
import { routeOf } from '../../src/operations/shape.ts'
import { sessionToken } from '../../src/platform/tokens.ts'
import { eventually, NODE, ROOT } from './fleet.ts'
import type { Scene } from './scene.ts'

/** The fields that tests read. */
interface Answer {
  error: { code: string; message: string; left?: number }
  limits: object
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A script line that calls an operation as the agent. */
export const call = (operation: string, input: object = {}, to = '/dev/null'): string =>
  `${quoted(NODE)} ${quoted(join(ROOT, 'bin/fleet.js'))} call ${operation} ${quoted(JSON.stringify(input))} > ${quoted(to)} 2>&1`

let keys = 0

/** The same, repeated with one key while the store gives no answer, so that it happens once. */
export function surely(operation: string, input: object = {}): string {
  const { method, path } = routeOf(OPERATIONS.find(({ name }) => name === operation)!)
  const given = [
    join(import.meta.dirname, 'call-until-answered.mjs'),
    method,
    path,
    JSON.stringify(input),
    `k${keys++}`,
  ]
  return [NODE, ...given].map(quoted).join(' ')
}

/** A script that does the second part when it is started again. */
export const twice = (first: string[], second: string[]): string =>
  ['if [ "$FLEET_REASON" = first ]; then', ...first, 'else', ...second, 'fi'].join('\n')

export const report = (done: string, more: object = {}) => ({
  ...{ files_changed: 'a.txt', what_done: done, what_open: '', what_tested: ['ran it'], what_untested: '' },
  ...{ next_steps: 'Rest.', errors_encountered: '', ...more },
})

/** An agent that keeps running until the test releases it, and its token. */
export async function anAgentAtWork({ fleet, project, gate }: Scene, settings: object = {}) {
  const held = gate(`held-${Math.random()}`)
  const { id } = await fleet.mission(project, `echo x > x.txt; ${held.wait}`, settings)
  await eventually('the agent at work', () => held.reached())
  const { sessions } = await fleet.show(id)
  const { id: session, generation } = sessions.at(-1)!
  const token = await sessionToken(fleet.fleet.keys, { id: session, generation })
  const ask = async (operation: string, input: Record<string, unknown> = {}, headers: Record<string, string> = {}) => {
    const { method, path } = routeOf(OPERATIONS.find(({ name }) => name === operation)!)
    const inPath = path.replace(/:(\w+)/g, (_, field: string) => encodeURIComponent(String(input[field])))
    const query = new URLSearchParams(input as Record<string, string>)
    const answer = await fleet.http(method === 'GET' && query.size ? `${inPath}?${query}` : inPath, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(method !== 'GET' && { body: JSON.stringify(input) }),
    })
    return { status: answer.status, json: (await answer.json()) as Answer }
  }
  return { id, session, token, ask, open: held.open }
}
