import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Member } from '../src/domain/records/team.ts'
import { aProject } from '../src/domain/samples.testkit.ts'
import { makeFleet } from '../src/fleet/fleet.ts'
import { put } from '../src/fleet/records.ts'
import { createTeam } from '../src/fleet/teams/creating.ts'
import { sendMail } from '../src/fleet/teams/mail.ts'
import { addMember } from '../src/fleet/teams/members.ts'
import { openHome } from '../src/platform/home.ts'
import { memoryKeys } from '../src/platform/keys.ts'
import { openStore } from '../src/store/index.ts'
import type { Bench } from './figure.ts'

const SENDERS = 20
const DEMANDED = 1000
const ask = { operation: 'bench', actor: 'person' }

/** How many messages a second twenty members send to each other, beside as many commits of one small record. */
export const mail: Bench = async scale => {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
  const home = openHome(root)
  const store = await openStore({ engine: 'sqlite', file: home.storeFile }, { migrate: true })
  const environment = { FLEET_MAIL_PER_MINUTE: '1000000' }
  const fleet = makeFleet({ home, keys: memoryKeys(), store, environment })
  try {
    await store.commit({ changes: [put('projects', aProject({ id: 'p1' }), 'absent')] })
    const settings = { description: '', max_members: SENDERS, max_budget_usd: null }
    const { value: team } = await createTeam(fleet, ask, 'p1', { name: 'crew', ...settings })
    const members: Member[] = []
    for (let n = 0; n < SENDERS; n++) {
      const wanted = {
        handle: `m${n}`,
        role: 'worker' as const,
        charter: 'true',
        labels: [],
        settings: { agent: 'shell' },
      }
      members.push((await addMember(fleet, ask, team.id, wanted)).value)
    }
    const each = scale.of(500, 50)
    const bare = await perSecond(each, async (sender, n) => {
      const record = aProject({ id: `f${sender}-${n}`, name: `f${sender}-${n}`, path: `/f${sender}-${n}` })
      await store.commit({ changes: [put('projects', record, 'absent')] })
    })
    const sent = await perSecond(each, async (sender, n) => {
      const to = [`m${(sender + 1 + (n % (SENDERS - 1))) % SENDERS}`]
      const letter = { to, body: `message ${n}`, subject: '', priority: 'normal', needs: 'none' } as const
      await sendMail(
        fleet,
        team.id,
        members[sender]!,
        { ...letter, deadline: null, reply_to: null, wake: false },
        'bench',
      )
    })
    return [
      {
        figure: `messages a second, ${SENDERS} senders`,
        measured: `${Math.round(sent)}/s`,
        floor: `${Math.round(bare)}/s`,
        demanded: `≥ ${DEMANDED}/s`,
        met: sent >= DEMANDED,
      },
    ]
  } finally {
    await fleet.close()
    rmSync(root, { recursive: true, force: true })
  }
}

async function perSecond(each: number, act: (sender: number, n: number) => Promise<void>): Promise<number> {
  const began = performance.now()
  await Promise.all(
    Array.from({ length: SENDERS }, async (_, sender) => {
      for (let n = 0; n < each; n++) await act(sender, n)
    }),
  )
  return (SENDERS * each * 1000) / (performance.now() - began)
}
