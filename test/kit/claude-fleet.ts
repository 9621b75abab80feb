import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Anything, ledger } from './known.ts'
import { aScene, type Scene } from './scene.ts'
import { aWorker } from './worker.ts'

export interface Said {
  status: number
  body: Anything
}

/** Routes of work that is divided. They have a test of their own. */
export const OF_WORK = /\/(tasks|workitems|batches|spawn-queue|register)|worktree\/\{handle\}\/(push|pr|status)/

/** A fleet with the team `crew`, and clients of it that speak as claude-fleet's: with one server for a whole file. */
export async function aCrew(whenOver: (clean: () => Promise<void>) => void, env?: Record<string, string>) {
  const scene: Scene = await aScene({ start: false, project: { name: 'web' }, env }, whenOver)
  const { call, forgotten } = ledger('claude-fleet', 'route')
  const { fleet, project } = scene
  aWorker(fleet)
  writeFileSync(join(fleet.fleet.home.path, 'fleet.toml'), 'default_agent = "worker"\n')
  const { url } = await fleet.start()
  const team: { id: string } = await fleet.call('create_team', { project_id: project.id, name: 'crew' })
  const owner = await fleet.fleet.keys.ownerToken()

  async function send(token: string | undefined, method: string, path: string, body?: object): Promise<Said> {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: await answer.json() }
  }

  /** A client as claude-fleet's: it signs in, and sends its requests with the token it got. */
  async function aClient(handle: string, agentType?: string, credential = owner, teamName = 'crew') {
    call('POST /auth')
    const given = { handle, teamName, ...(agentType && { agentType }) }
    const { status, body: user } = await send(credential, 'POST', '/auth', given)
    expect(status, JSON.stringify(user)).toBe(200)
    const ask = (route: string, values: Record<string, unknown> = {}, body?: object): Promise<Said> => {
      const [method = '', template = ''] = route.split(' ')
      const path = template.replace(/\{(\w+)\}/g, (_, field: string) => String(values[field]))
      const query = method === 'GET' && body ? `?${new URLSearchParams(body as Record<string, string>)}` : ''
      return send(user.token, method, path + query, method === 'GET' ? undefined : body)
    }
    const works = async (route: string, values: Record<string, unknown> = {}, body?: object): Promise<Anything> => {
      call(route)
      const said = await ask(route, values, body)
      expect(said.status, `${route}: ${JSON.stringify(said.body)}`).toBe(200)
      return said.body
    }
    /** The error, in the shape that their clients print. */
    const refused = async (status: number, route: string, values: Record<string, unknown> = {}, body?: object) => {
      const said = await ask(route, values, body)
      expect([said.status, typeof said.body.error], `${route}: ${JSON.stringify(said.body)}`).toEqual([
        status,
        'string',
      ])
      return `${said.body.error} ${said.body.hint ?? ''}`
    }
    return { ...user, ask, works, refused } as {
      uid: string
      token: string
      ask: typeof ask
      works: typeof works
      refused: typeof refused
    }
  }
  return { scene, team, url, owner, send, aClient, call, forgotten }
}

export type Crew = Awaited<ReturnType<typeof aCrew>>
export type CrewClient = Awaited<ReturnType<Crew['aClient']>>
