import { expect, test } from 'vitest'
import { twoTeams } from '../../teams.testkit.ts'
import { MAIL_ROUTES } from './mail.ts'

test('a member that has the name of an earlier one has none of its mail', async () => {
  const { ask, owner, one } = await twoTeams()
  const team_id = one.id
  const { run } = MAIL_ROUTES.find(({ http }) => http === 'GET /mail/:handle')!
  // There are two teams here, and the route asks for the only one.
  const asked = <T>(name: string, input: object) =>
    name === 'team_status' ? ask<T>(owner, 'get_team', { team_id }) : ask<T>(owner, name, input)
  const lettersTo = async (handle: string) =>
    ((await run({ caller: owner, ask: asked }, { handle })) as { body: string }[]).map(({ body }) => body)

  await ask(owner, 'send_mail', { team_id, to: 'bob', body: 'for the first bob' })
  await ask(one.bob, 'read_mail')
  expect(await lettersTo('bob')).toEqual(['for the first bob'])
  await ask(owner, 'dismiss_member', { team_id, member: 'bob' })
  await ask(owner, 'add_member', { team_id, handle: 'bob', agent: 'shell', charter: 'true' })
  await ask(owner, 'send_mail', { team_id, to: 'bob', body: 'for the second bob' })
  expect(await lettersTo('Bob')).toEqual(['for the second bob'])
})
