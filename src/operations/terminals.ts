import * as z from 'zod'
import { Forbidden, NotAllowed } from '../domain/errors.ts'
import { requireTerminal } from '../domain/rules/terminal.ts'
import { lookUp } from '../fleet/records.ts'
import type { HeldTerminals } from '../fleet/takeover/held.ts'
import { takeOverMission } from '../fleet/takeover/takeover.ts'
import { isPerson } from './authorize.ts'
import { ask, Ref } from './inputs.ts'
import { callerKey, Ticket } from './live.ts'
import { type Context, command, deviceOf } from './operation.ts'
import { MissionView, missionView } from './views.ts'

/** A terminal can do whatever the person can, so no agent, plugin or model opens one. */
async function terminalsFor({ fleet, caller }: Context): Promise<HeldTerminals> {
  if (!isPerson(caller)) throw new Forbidden('Only a person can open a terminal.')
  const id = deviceOf(caller)
  const { store } = fleet.view?.whole ?? fleet
  const device = id === undefined ? undefined : (await store.get('devices', id))?.value
  requireTerminal(device, fleet.settings.terminalDevices)
  const { host } = fleet.terminals
  if (!host) throw new NotAllowed('A terminal in the browser needs a running server.', { try: 'fleet up --detach' })
  return host
}

export const terminals = [
  command({
    name: 'take_over_in_page',
    may: 'takeover.use',
    mcp: false,
    summary: 'Stop the agent at a safe moment and let a person continue its conversation in the browser',
    http: 'POST /api/missions/:mission_id/takeover/page',
    needsFleet: true,
    inServer: 'itself',
    input: z.object({ mission_id: Ref }),
    output: MissionView,
    run: async (context, { mission_id }) => {
      const host = await terminalsFor(context)
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      const asked = ask(context, 'take_over_in_page')
      const taken = await takeOverMission(context.fleet, asked, value.id, host.identity, { page: true })
      host.expectPage(value.id)
      return missionView(context.fleet, taken.value)
    },
  }),
  command({
    name: 'open_terminal',
    may: 'takeover.use',
    mcp: false,
    summary: 'Get a ticket for the terminal of a mission that was taken over in the browser: it opens /ws once',
    http: 'POST /api/missions/:mission_id/terminal',
    needsFleet: true,
    inServer: 'itself',
    input: z.object({ mission_id: Ref }),
    output: Ticket,
    run: async (context, { mission_id }) => {
      const host = await terminalsFor(context)
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      if (!host.holds(value))
        throw new NotAllowed(`Mission ${value.id} is not taken over in a page.`, { try: `fleet takeover ${value.id}` })
      const { fleet, caller } = context
      const grant = { opens: 'terminal', by: callerKey(caller), mission_id: value.id, caller } as const
      return fleet.tickets.issue(grant, Date.parse(fleet.now()))
    },
  }),
]
