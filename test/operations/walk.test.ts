import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { AGENT_MCP } from '../../src/domain/records/mcp-server.ts'
import { type Grant, ROLES } from '../../src/domain/records/principal.ts'
import { aFleet } from '../../src/fleet/fleet.testkit.ts'
import { addPrincipal } from '../../src/fleet/people/principals.ts'
import { makeToken } from '../../src/fleet/people/tokens.ts'
import { OPERATIONS } from '../../src/operations/index.ts'
import type { Context, Operation } from '../../src/operations/operation.ts'
import { routeOf } from '../../src/operations/shape.ts'
import { TOOL_SETS } from '../../src/operations/tool-sets.ts'
import { toolsOf } from '../../src/operations/tools.ts'
import { addTeam, FOREIGN, fill, OWN } from '../../src/operations/two-projects.testkit.ts'
import { mcpClient } from '../../src/server/mcp/client.testkit.ts'
import { inside } from '../../src/server/mcp/inside.ts'
import { outside } from '../../src/server/mcp/outside.ts'
import { serve } from '../../src/server/server.ts'
import { inputOf, isHeld, OF_A_TASK, OF_TEAMS, pick, published, TYPE_IN_TERMINALS } from './published.ts'

const OTHER = 'otherteam'

interface Case {
  about: 'own project' | 'another project' | 'own team' | 'another team'
  /** Of the role. */
  place: Omit<Grant, 'role'>
  input(operation: Operation): Record<string, unknown>
  /** What must be there for the operation that is reached. */
  record: ['projects' | 'teams', string]
}

const inProject = { project_id: OWN }
const inTeam = { project_id: OWN, team_id: `${OWN}-team` }
const CASES: readonly Case[] = [
  { about: 'own project', place: inProject, input: each => inputOf(each, OWN), record: ['projects', OWN] },
  { about: 'another project', place: inProject, input: each => inputOf(each, FOREIGN), record: ['projects', FOREIGN] },
  { about: 'own team', place: inTeam, input: ofTheTeam, record: ['teams', `${OWN}-team`] },
  { about: 'another team', place: inTeam, input: ofTheOther, record: ['teams', `${OTHER}-team`] },
]

function ofTheTeam(operation: Operation): Record<string, unknown> {
  const named = { ...inputOf(operation, OWN), ...('mission_id' in operation.input.shape && OF_A_TASK) }
  // An address cannot leave out what it names.
  const inAddress = Object.fromEntries(routeOf(operation).pathFields.map(field => [field, 'someid']))
  return { ...inAddress, ...pick(named, [...OF_TEAMS, 'task_id', 'mission_id', 'project_id']) }
}

function ofTheOther(operation: Operation): Record<string, unknown> {
  return { ...ofTheTeam(operation), ...pick(inputOf(operation, OTHER), OF_TEAMS) }
}

/** What the published page says. */
function mayReach(operation: Operation, role: Grant['role'], { about, input }: Case): boolean {
  const says = isHeld(role, operation)
  const { concerns } = published.get(operation.name)!
  if (concerns === 'you') return says !== ''
  if (about.startsWith('another') || concerns === 'fleet') return false
  const names = Object.keys(input(operation))
  if (about === 'own project') return ['yes', 'project'].includes(says) && (concerns !== 'either' || names.length > 0)
  // A template or a specification is of the project.
  const isOfTeam = names.some(field => field.endsWith('_id') && field !== 'project_id')
  return says === 'yes' && !TYPE_IN_TERMINALS.has(operation.name) && (operation.kind !== 'command' || isOfTeam)
}

/** Every operation, answering whether what was asked about is there for whoever reached it. */
function watched(about: () => Case) {
  const run = async ({ fleet }: Context) => ({ reached: (await fleet.store.get(...about().record)) !== undefined })
  const output = z.object({ reached: z.boolean() })
  return OPERATIONS.filter(({ kind }) => kind !== 'stream').map(operation => ({
    ...operation,
    // What a tool tells is made of its answer, which is another one here.
    ...(typeof operation.mcp === 'object' && { mcp: { ...operation.mcp, told: undefined } }),
    ...{ input: operation.input.partial(), output, run },
  })) as unknown as typeof OPERATIONS
}

test.each(ROLES)(
  '%s: every operation over REST and MCP, about own and other projects and teams; the endpoint of agents refuses it',
  async role => {
    const fleet = aFleet()
    for (const project of [OWN, FOREIGN]) await fill(fleet, project)
    await addTeam(fleet, OWN, OTHER)
    let now = CASES[0]!
    const operations = watched(() => now)
    const tools = toolsOf(operations)
    const server = await serve(fleet, operations, { port: 0, say: () => {} }, [
      outside(fleet, tools),
      inside(fleet, tools),
    ])
    onTestFinished(() => server.close())
    const wrong: string[] = []
    const checks = { rest: 0, mcp: 0, inside: 0 }

    /** One for each walk: how much somebody may ask at once is limited. */
    const tokenFor = async (name: string, grant: Grant): Promise<string> => {
      const ask = { operation: 'test', actor: 'person' }
      const service = await addPrincipal(fleet, ask, { kind: 'service', name, grants: [grant] })
      return (await makeToken(fleet, ask, service, { name: 't', grants: null, expires_at: null })).token
    }

    for (const each of CASES) {
      now = each
      const grant = { role, ...each.place }
      const check = (way: string, operation: Operation, reached: boolean) => {
        // What is one's own names nothing, so it is reached, and what is elsewhere is not there.
        const isOwn = published.get(operation.name)!.concerns === 'you'
        if (!isOwn && reached !== mayReach(operation, role, each))
          wrong.push(`${way}: ${operation.name} as ${role} about ${each.about}: ${reached}`)
      }
      const token = await tokenFor(`rest ${role} ${each.about}`, grant)
      for (const operation of operations) {
        const { status, reached } = await overRest(server.url, token, operation, each.input(operation))
        if (![200, 403, 404].includes(status)) wrong.push(`rest: ${operation.name} as ${role}: status ${status}`)
        check('rest', operation, reached)
        checks.rest++
      }
      const other = await tokenFor(`mcp ${role} ${each.about}`, grant)
      const { call, close } = await mcpClient(`${server.url}/mcp?tools=${Object.keys(TOOL_SETS)}`, other)
      for (const tool of tools.filter(({ operation, set, asOurs }) => operation && set !== 'inside' && !asOurs)) {
        const { text } = await call(tool.name, each.input(tool.operation!)).catch(error => ({ text: String(error) }))
        check('mcp', tool.operation!, text.includes('"reached":true') || text.includes('"reached": true'))
        checks.mcp++
      }
      await close()
      await expect(mcpClient(`${server.url}${AGENT_MCP}`, other)).rejects.toThrow(/token of a session/)
      checks.inside++
    }
    console.log(
      `${role}: ${checks.rest} checks over REST, ${checks.mcp} over MCP, ${checks.inside} inside, ${wrong.length} wrong`,
    )
    expect(wrong).toEqual([])
    expect(checks.rest).toBeGreaterThan(800)
    expect(checks.mcp).toBeGreaterThan(500)
  },
  300_000,
)

async function overRest(url: string, token: string, operation: Operation, input: Record<string, unknown>) {
  const { method, path, pathFields, rest } = routeOf(operation)
  const address = path.replace(/:(\w+)/g, (_, field) => encodeURIComponent(String(input[field] ?? 'someid')))
  const others = Object.entries(input).filter(([field]) => !pathFields.includes(field))
  const query = rest === 'query' ? `?${new URLSearchParams(others as [string, string][])}` : ''
  const answer = await fetch(`${url}${address}${query}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(rest === 'body' && { 'content-type': 'application/json' }) },
    ...(rest === 'body' && { body: JSON.stringify(Object.fromEntries(others)) }),
  })
  const text = await answer.text()
  return { status: answer.status, reached: text.includes('"reached":true') }
}
