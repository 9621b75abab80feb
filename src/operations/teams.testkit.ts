import type { MemberRole } from '../domain/records/team.ts'
import { aProject, aSession } from '../domain/samples.testkit.ts'
import { aBench } from '../fleet/workshop.testkit.ts'
import { authorize } from './authorize.ts'
import { operationNamed } from './index.ts'
import type { Caller } from './operation.ts'
import { parseInput } from './shape.ts'

type Bench = ReturnType<typeof aBench>
type Ask = <T>(caller: Caller, name: string, input?: object) => Promise<T>
interface Asking extends Pick<Bench, 'save'> {
  ask: Ask
  owner: Caller
}

/** A member of a team with a session at work, as a caller. */
export async function aMember(
  { ask, owner, save }: Asking,
  team: { id: string },
  project_id: string,
  handle: string,
  role: MemberRole = 'worker',
): Promise<Caller> {
  const wanted = { team_id: team.id, handle, role, agent: 'shell', charter: 'true' }
  const { id, mission_id } = await ask<{ id: string; mission_id: string }>(owner, 'add_member', wanted)
  const session_id = `s-${team.id}-${handle}`
  const of = { mission_id, project_id }
  await save(
    'sessions',
    aSession({ ...of, id: session_id, member_id: id, status: 'running', worktree: null, worktree_kept: false }),
  )
  return { kind: 'session', session_id, ...of }
}

/** Two projects with a team each. The members of both have a session at work. */
export async function twoTeams() {
  const bench = aBench()
  const { fleet, save } = bench
  await save('projects', aProject({ id: 'p1', name: 'one' }), aProject({ id: 'p2', name: 'two', path: '/two' }))
  const ask: Ask = async <T>(caller: Caller, name: string, input: object = {}): Promise<T> => {
    const operation = operationNamed(name)!
    if (operation.kind === 'stream') throw new Error(name)
    const given = parseInput(operation, input)
    const seen = await authorize(operation, { fleet, caller }, given)
    return (await operation.run({ fleet: seen, caller, signal: new AbortController().signal }, given)) as T
  }
  const owner: Caller = { kind: 'owner' }
  const teamIn = async (project: string, name: string) => {
    const { id } = await ask<{ id: string }>(owner, 'create_team', { project_id: project, name })
    const lea = await aMember({ ask, owner, save }, { id }, project, 'lea', 'team-lead')
    const bob = await aMember({ ask, owner, save }, { id }, project, 'bob')
    return { id, lea, bob }
  }
  return { ...bench, ask, owner, one: await teamIn('p1', 'alpha'), two: await teamIn('p2', 'beta') }
}
