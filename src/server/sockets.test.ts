import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { addPrincipal, setGrants } from '../fleet/people/principals.ts'
import { makeToken, revokeToken } from '../fleet/people/tokens.ts'
import type { HeldTerminals } from '../fleet/takeover/held.ts'
import { aServer } from './server.testkit.ts'
import { CLOSED } from './socket-limits.ts'

const ASK = { operation: 'test', actor: 'person' }

test.each(['its token is revoked', 'its roles change'])('an open terminal is closed when %s', async why => {
  const { fleet, server } = await aServer([])
  const host = { detach: async () => {} } as unknown as HeldTerminals
  Object.assign(fleet.terminals, { host })
  const grants = [{ role: 'team-lead' as const, project_id: null }]
  const ada = await addPrincipal(fleet, ASK, { kind: 'person', name: 'Ada', grants })
  const { record } = await makeToken(fleet, ASK, ada, { name: 't', grants: null, expires_at: null })
  const caller = { kind: 'person', id: ada.id, name: 'Ada', grants, limit: null, token: record.id } as const
  const { ticket } = fleet.tickets.issue(
    { opens: 'terminal', by: 'ada', mission_id: 'm', caller },
    Date.parse(fleet.now()),
  )
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, ['fleet', `ticket.${ticket}`], {
    origin: server.url,
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const closed = new Promise(resolve => socket.once('close', resolve))
  if (why === 'its roles change') await setGrants(fleet, ASK, ada.id, [])
  else await revokeToken(fleet, ASK, record.id)
  expect(await closed).toBe(why === 'its roles change' ? CLOSED.refused : CLOSED.signedOut)
})
