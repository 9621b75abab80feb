/** The operations over HTTP, and the pages a browser sees. */
import type { Fleet } from '../fleet/fleet.ts'
import { OPERATIONS } from '../operations/index.ts'
import { inside } from './mcp/inside.ts'
import { outside } from './mcp/outside.ts'
import { type Server, type ServerOptions, serve } from './server.ts'

export { type Log, openLog } from './log.ts'
export { openapi } from './openapi.ts'
export type { Server, ServerOptions } from './server.ts'

export const startServer = (fleet: Fleet, options: ServerOptions): Promise<Server> =>
  serve(fleet, OPERATIONS, options, [outside(fleet), inside(fleet)])
