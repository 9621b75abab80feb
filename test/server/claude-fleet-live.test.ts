import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { aCrew, type Crew } from '../kit/claude-fleet.ts'
import { eventually } from '../kit/fleet.ts'
import { Follower } from '../kit/follower.ts'
import { ledger } from '../kit/known.ts'

let crew: Crew
beforeAll(async () => {
  let clean: () => Promise<void>
  crew = await aCrew(over => {
    clean = over
  })
  return () => clean()
})

function follow(token: string): Follower {
  const follower = new Follower('claude-fleet', () => ({ url: crew.url, token }))
  const running = follower.run()
  onTestFinished(async () => {
    follower.end()
    await running
  })
  return follower
}

test('members see what happens in their team by the names they know, and a stranger sees nothing of it', async () => {
  const { aClient, scene } = crew
  const { names, call, forgotten } = ledger('claude-fleet', 'event')
  await scene.fleet.call('create_team', { project_id: scene.project.id, name: 'others' })
  const lead = await aClient('chief', 'team-lead')
  const ada = await aClient('ada', 'coordinator')
  const mole = await aClient('mole', 'team-lead', undefined, 'others')
  const [mine, foreign] = [follow(lead.token), follow(mole.token)]
  await eventually('both follow', () => mine.hasCursor && foreign.hasCursor)

  const { chatId } = await ada.works('POST /chats', {}, { uid1: ada.uid, uid2: lead.uid })
  await ada.works('POST /chats/{id}/messages', { id: chatId }, { from: ada.uid, text: 'A quiet word.' })
  await lead.works('POST /teams/{team}/broadcast', { team: 'crew' }, { from: lead.uid, text: 'A quiet lunch.' })
  const swarm = await lead.works('POST /swarms', {}, { name: 'quiet', maxAgents: 2 })
  await lead.works(
    'POST /orchestrate/spawn',
    {},
    {
      ...{ handle: 'quietbob', swarmId: swarm.id, initialPrompt: 'do: echo quietly spoken' },
    },
  )
  const post = { swarmId: swarm.id, senderHandle: 'chief', messageType: 'status', payload: { text: 'quiet' } }
  await lead.works('POST /blackboard', {}, post)
  const stands = { fromHandle: 'ada', toHandle: 'chief', goal: 'Be quiet', now: 'Quiet' }
  await ada.works('POST /checkpoints', {}, stands)
  const of = (type: string) => mine.seen.filter(each => each.type === type)
  await eventually('what bob says', () =>
    of('worker_output').some(({ output }) => /quietly spoken/.test(String(output))),
  )
  await lead.works('POST /swarms/{id}/kill', { id: swarm.id }, { graceful: true })
  await eventually('bob to be gone', () => of('worker_dismissed').length > 0)
  // The first try at its task crashes.
  const flag = join(scene.fleet.root, 'crashed')
  const charter = `test -e '${flag}' || { touch '${flag}'; exit 1; }; echo up >up.txt`
  const { team_id } = await scene.fleet.call<{ team_id: string }>('add_member', {
    ...{ team_id: crew.team.id, handle: 'eve', agent: 'shell', charter },
  })
  await scene.fleet.call('create_team_task', { team_id, title: 'Get up', description: 'Again.', agent: 'eve' })
  await eventually('eve to be restarted', () => of('worker_restarted').length > 0)
  await eventually('eve to be well', () => of('worker_health').some(({ health }) => health === 'healthy'))

  expect(of('new_message')).toContainEqual(
    expect.objectContaining({ handle: 'ada', message: expect.objectContaining({ chatId, text: 'A quiet word.' }) }),
  )
  expect(of('broadcast')).toMatchObject([{ handle: 'chief', message: { text: 'A quiet lunch.' } }])
  expect(of('swarm_created')).toMatchObject([{ swarm: { id: swarm.id, name: 'quiet', maxAgents: 2 } }])
  expect(of('worker_spawned').map(({ worker }) => worker)).toMatchObject([
    { handle: 'quietbob', teamName: 'crew' },
    { handle: 'eve', teamName: 'crew' },
  ])
  expect(of('worker_output').map(({ handle }) => handle)).toContain('quietbob')
  expect(of('blackboard_message')).toMatchObject([{ swarmId: swarm.id, message: { payload: { text: 'quiet' } } }])
  expect(of('checkpoint_created')).toMatchObject([{ checkpoint: { fromHandle: 'ada', toHandle: 'chief' } }])
  expect(of('swarm_killed')).toMatchObject([{ swarmId: swarm.id }])
  expect(of('worker_dismissed')).toMatchObject([{ handle: 'quietbob' }])
  expect(of('worker_restarted')).toMatchObject([{ handle: 'eve', restartCount: 1 }])
  expect(of('worker_health')[0]).toMatchObject({ handle: 'eve', reason: expect.any(String) })
  for (const { name } of names) if (of(name).length) call(name)
  expect(forgotten().filter(name => !/^task_/.test(name))).toEqual([])
  // What a token for another team sees of the project are its sessions, and nothing of this team.
  const kinds = new Set(foreign.seen.map(({ type }) => type))
  for (const kind of [
    'worker_health',
    'worker_restarted',
    'new_message',
    'broadcast',
    'swarm_created',
    'blackboard_message',
    'checkpoint_created',
  ])
    expect(kinds).not.toContain(kind)
})
