import type { WebSocket } from 'ws'
import * as z from 'zod'
import type { Fleet } from '../fleet/fleet.ts'
import { sentence } from '../fleet/sentences.ts'
import type { Terminal, Viewer } from '../fleet/takeover/terminal.ts'
import type { Log } from './log.ts'
import { CLOSED } from './socket-limits.ts'

/** What a page says besides its input, which is binary. */
const Said = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('size'),
    columns: z.number().int().min(2).max(1000),
    rows: z.number().int().min(2).max(1000),
  }),
  z.strictObject({ kind: z.literal('read'), bytes: z.number().int().min(0).max(1e9) }),
])

/** A page says its size at once; then the client is started. */
const FIRST_SIZE_MS = 5000

/** Connects a page with the terminal of its mission. Returns what to call when the page is gone. */
export function showTerminal(
  socket: WebSocket,
  fleet: Fleet,
  mission_id: string,
  log: Log,
): (how: { signedOut: boolean }) => void {
  const { host } = fleet.terminals
  let terminal: Terminal | undefined
  let opening = false
  const tell = (said: object) => socket.send(JSON.stringify(said))
  const viewer: Viewer = {
    show: output => socket.send(output),
    exited: code => tell({ kind: 'exited', code }),
    replaced: () => socket.close(CLOSED.replaced),
  }
  const patience = setTimeout(() => socket.close(CLOSED.misused), FIRST_SIZE_MS)
  const open = async (size: { columns: number; rows: number }) => {
    opening = true
    clearTimeout(patience)
    try {
      terminal = await host?.attach(mission_id, viewer, size)
      log.info({ mission_id }, 'terminal opened')
      if (socket.readyState !== socket.OPEN) await host?.detach(mission_id, viewer, { signedOut: false })
    } catch (error) {
      tell({ kind: 'refused', text: sentence(error) })
      socket.close(CLOSED.refused)
    }
  }
  socket.on('error', () => socket.terminate())
  socket.on('message', (data, isBinary) => {
    if (isBinary) {
      if (terminal && !terminal.type(data as Buffer)) socket.close(CLOSED.misused)
      return
    }
    const said = parse(data)
    if (!said) return socket.close(CLOSED.misused)
    if (said.kind === 'read') terminal?.read(said.bytes)
    else if (terminal) terminal.resize(said)
    else if (!opening) open(said)
  })
  let isOver = false
  return how => {
    clearTimeout(patience)
    if (isOver) return
    isOver = true
    host?.detach(mission_id, viewer, how).catch(error => log.error({ err: error }, 'closing a terminal'))
  }
}

function parse(data: { toString(): string }): z.infer<typeof Said> | undefined {
  try {
    return Said.safeParse(JSON.parse(data.toString())).data
  } catch {
    return undefined
  }
}
