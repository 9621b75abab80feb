import { expect, test } from 'vitest'
import { Spawn } from '../records/spawn.ts'
import { Swarm } from '../records/swarm.ts'
import { Team } from '../records/team.ts'
import { NOW } from '../samples.testkit.ts'
import { decided, movesOf, type Progress } from './spawns.ts'

const of = { team_id: 't', project_id: 'p', created_at: NOW, updated_at: NOW }
let order = 0
const aSpawn = (id: string, more: object = {}) =>
  Spawn.parse({
    ...{ ...of, id, from: { member_id: 'lea', handle: 'lea', role: 'team-lead' }, actor: 'person', role: 'worker' },
    ...{ state: 'waiting', order: order++, ...more },
  })
const seat = (handle: string, swarm_id: string | null = null) => ({
  ...{ handle, member_id: handle, is_agent: true, swarm_id },
})
const aTeam = (max_members: number, ...handles: string[]) =>
  Team.parse({ ...of, id: 't', name: 'crew', max_members, roster: handles.map(handle => seat(handle)) })
const moves = (spawns: Spawn[], team: Team, swarms: Swarm[] = [], progress: Record<string, Progress> = {}) =>
  movesOf(spawns, { team, swarms, progress: id => progress[id] ?? 'never' }).map(move =>
    [
      move.spawn.id,
      move.kind === 'add' ? 'add' : move.kind === 'wait' ? move.text : `${move.state}: ${move.reason}`,
    ].join(' '),
  )

test('the most urgent and then the oldest get the free places, and the others wait and say for what', () => {
  const spawns = [aSpawn('a'), aSpawn('b'), aSpawn('c', { priority: 'high' }), aSpawn('d', { priority: 'low' })]
  expect(moves(spawns, aTeam(3, 'lea'))).toEqual([
    'c add',
    'a add',
    'b a free place: the team crew has its 3 agents',
    'd a free place: the team crew has its 3 agents',
  ])
})

test('a full swarm keeps only its own back', () => {
  const swarm = (id: string, more: object = {}) => Swarm.parse({ ...of, id, name: id, max_agents: 1, ...more })
  const spawns = [aSpawn('a', { swarm_id: 's' }), aSpawn('b', { swarm_id: 's' }), aSpawn('c')]
  expect(moves(spawns, aTeam(9, 'lea'), [swarm('s')])).toEqual([
    'a add',
    'b a free place: the swarm s has its 1 agent',
    'c add',
  ])
  expect(moves([spawns[0]!], aTeam(9, 'lea'), [swarm('s', { state: 'ended' })])).toEqual([
    'a refused: The swarm s was killed.',
  ])
})

test('a request waits until somebody grants it, and ends with whoever made it and with the team', () => {
  const request = [aSpawn('a', { state: 'requested' })]
  expect(moves(request, aTeam(9, 'lea'))).toEqual(['a a lead or a person who grants it'])
  expect(moves(request, aTeam(9))).toEqual(['a cancelled: lea was dismissed.'])
  // What was granted no longer needs whoever asked.
  expect(moves([aSpawn('b')], aTeam(9))).toEqual(['b add'])
  expect(moves([aSpawn('b')], { ...aTeam(9), ended_at: NOW })).toEqual(['b cancelled: The team was deleted.'])
  expect(moves([aSpawn('b')], { ...aTeam(9), paused: true })).toEqual(['b the team crew, which is paused'])
})

test('a request waits for the members of others, and is refused if they never come', () => {
  const spawns = [aSpawn('a', { depends_on: ['x', 'y'] })]
  const team = aTeam(9, 'lea')
  expect(moves(spawns, team, [], { x: 'done', y: 'working' })).toEqual([
    'a the member of the request y to finish its task',
  ])
  expect(moves(spawns, team, [], { x: 'open', y: 'done' })).toEqual(['a the member of the request x to be added'])
  expect(moves(spawns, team, [], { x: 'done', y: 'done' })).toEqual(['a add'])
  expect(moves(spawns, team, [], { x: 'open' })).toEqual([
    'a refused: Nobody comes for the request y, which it depends on.',
  ])
})

test('the first decision counts, and what waits for room can be cancelled', () => {
  const told = { by: 'lea', reason: null, now: NOW }
  const granted = decided(aSpawn('a', { state: 'requested' }), 'waiting', told)
  expect(() => decided(granted, 'waiting', told)).toThrow('This request is granted already.')
  const cancelled = decided(granted, 'cancelled', told)
  for (const decision of ['waiting', 'refused', 'cancelled'] as const)
    expect(() => decided(cancelled, decision, told)).toThrow('This request is cancelled already.')
})
