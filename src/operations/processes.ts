import * as z from 'zod'
import { SIDE_KINDS, type SideKind, type SideProcess } from '../domain/records/side-process.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { sideProcessId, startSideProcess, stopSideProcess } from '../fleet/previews/processes.ts'
import { current, lookUp } from '../fleet/records.ts'
import { ask, Paging, Ref } from './inputs.ts'
import { command, query } from './operation.ts'
import { ProcessView, processView } from './process-view.ts'
import { qrOf } from './qr.ts'

const WithMission = z.object({ mission_id: Ref })
const Shown = ProcessView.extend({
  qr: z
    .object({ text: z.string(), svg: z.string() })
    .nullable()
    .describe('its link as a QR code: as lines for a terminal, and as a picture'),
})

/** Each kind has the same three operations: start, show, stop. */
function aboutKind<const Start extends string, const Get extends string, const Stop extends string>(
  kind: SideKind,
  path: string,
  [start, get, stop]: [start: Start, get: Get, stop: Stop],
  title: string,
) {
  const http = `/api/missions/:mission_id/${path}` as const
  const missionId = async (fleet: Fleet, ref: string) => (await lookUp(fleet, 'missions', ref)).value.id
  const shown = (value: SideProcess) => ({
    ...processView(value),
    qr: kind === 'remote' && value.url ? qrOf(value.url) : null,
  })
  return [
    command({
      name: start,
      may: 'previews.run',
      mcp: 'control',
      summary: `Start ${title} of a mission in its worktree and keep it running; the answer comes before it is up`,
      http: `POST ${http}`,
      needsFleet: true,
      input: WithMission,
      output: Shown,
      run: async (context, { mission_id }) => {
        const id = await missionId(context.fleet, mission_id)
        return shown((await startSideProcess(context.fleet, ask(context, start), id, kind)).value)
      },
    }),
    query({
      name: get,
      may: 'missions.read',
      mcp: 'control',
      summary: `Show ${title} of a mission: its state and its address`,
      http: `GET ${http}`,
      input: WithMission,
      output: Shown,
      run: async ({ fleet }, { mission_id }) =>
        shown((await current(fleet, 'processes', sideProcessId(await missionId(fleet, mission_id), kind))).value),
    }),
    command({
      name: stop,
      may: 'previews.run',
      mcp: 'control',
      summary: `Stop ${title} of a mission and everything it started`,
      http: `DELETE ${http}`,
      needsFleet: true,
      input: WithMission,
      output: Shown,
      run: async (context, { mission_id }) => {
        const id = await missionId(context.fleet, mission_id)
        return shown((await stopSideProcess(context.fleet, ask(context, stop), id, kind)).value)
      },
    }),
  ]
}

export const processes = [
  query({
    name: 'list_processes',
    may: 'missions.read',
    mcp: 'control',
    summary: 'List what is kept running for missions: previews and remote controls, newest first',
    http: 'GET /api/processes',
    input: z.object({
      kind: z.enum(SIDE_KINDS).optional(),
      mission_id: Ref.optional(),
      live: z.boolean().default(true).describe('false: also those that have ended'),
      ...Paging,
    }),
    output: z.object({ processes: z.array(ProcessView), cursor: z.string().optional() }),
    run: async ({ fleet }, { kind, mission_id, live, limit, cursor }) => {
      const mission = mission_id && (await lookUp(fleet, 'missions', mission_id)).value.id
      const where = mission ? { index: 'mission', equals: [mission] } : { index: live ? 'live' : 'created' }
      const page = await fleet.store.find('processes', { ...where, newestFirst: true, limit, cursor })
      const found = page.items
        .map(item => item.value)
        .filter(each => (!kind || each.kind === kind) && (!live || each.status !== 'ended'))
      return { processes: found.map(processView), cursor: page.cursor }
    },
  }),
  ...aboutKind('preview', 'preview', ['start_preview', 'get_preview', 'stop_preview'], 'the preview'),
  ...aboutKind(
    'remote',
    'remote-control',
    ['start_remote_control', 'get_remote_control', 'stop_remote_control'],
    'the remote control',
  ),
]
