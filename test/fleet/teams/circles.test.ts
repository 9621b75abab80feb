import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { aTeam, type MailView, type TeamView } from '../../kit/team.ts'

interface WithCircles extends TeamView {
  circles: { members: string[]; waits: { member: string; for: string; mail_id: string; text: string }[] }[]
}

/** Each asks the next one the first time that it is woken, and never answers. */
async function aRound(s: Scene, handles: readonly string[], lead: boolean) {
  const crew = await aTeam(s, [])
  for (const [n, handle] of handles.entries()) {
    const asked = `${s.fleet.root}/${handle}.asked`
    const next = handles[(n + 1) % handles.length]
    const ask = `fleet mail send ${next} "After you." --subject "Who begins?" --needs reply`
    await crew.add(handle, { charter: `[ -e '${asked}' ] || { : > '${asked}'; ${ask}; }; echo done` })
  }
  if (lead) await crew.add('lea', { role: 'team-lead', charter: 'echo noted' })
  for (const handle of handles) await crew.send(handle, 'Begin.', { wake: true })
  const fromFleet = async () =>
    (await s.fleet.call<{ messages: MailView[] }>('list_mail', {})).messages.filter(
      ({ from }) => from.handle === 'fleet',
    )
  const show = () => s.fleet.call<WithCircles>('get_team', { team_id: crew.team.id })
  const everybodyIdle = async () => (await show()).members.every(({ state }) => state === 'idle')
  return { ...crew, show, fromFleet, everybodyIdle }
}

test('three who wait for each other are found, and the lead is told once, also after a restart', {
  timeout: 180_000,
}, async () => {
  const s = await aScene()
  const round = await aRound(s, ['ada', 'bob', 'cid'], true)
  const [told] = await eventually('somebody is told', async () => {
    const messages = await round.fromFleet()
    return messages.length ? messages : undefined
  })
  expect(told!.deliveries.map(({ to }) => to)).toEqual(['lea'])
  expect(told).toMatchObject({ subject: 'Waiting in a circle' })
  for (const [who, whom] of [
    ['ada', 'bob'],
    ['bob', 'cid'],
    ['cid', 'ada'],
  ])
    expect(told!.body).toMatch(
      new RegExp(`- ${who} waits for an answer of ${whom} to message \\w+ \\("Who begins\\?"\\)`),
    )
  await eventually('lea has read it', round.everybodyIdle)

  const { circles } = await round.show()
  expect(circles.map(({ members }) => members.toSorted())).toEqual([['ada', 'bob', 'cid']])
  const { stderr } = await s.fleet.fleetCommand(['team', 'show', 'crew'])
  expect(stderr).toMatch(/wait for each other:\n +\w+ waits for an answer of/)

  await s.fleet.kill()
  await s.fleet.start()
  // Another wake of one of them ends in the same circle.
  await round.send('ada', 'Well?', { wake: true })
  await eventually('ada is woken', async () => (await round.member('ada')).state !== 'idle')
  await eventually('ada is idle again', round.everybodyIdle)
  expect(await round.fromFleet()).toHaveLength(1)

  // It is no circle any more once one of them is gone.
  await s.fleet.call('dismiss_member', { team_id: round.team.id, member: 'cid' })
  expect((await round.show()).circles).toEqual([])
})

test('without a lead outside the circle, people are told', async () => {
  const s = await aScene()
  const round = await aRound(s, ['ada', 'bob'], false)
  await eventually('a message to the operator', async () => {
    const [told] = await round.fromFleet()
    return told?.deliveries.some(({ to }) => to === 'operator')
  })
})
