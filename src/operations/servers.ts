import * as z from 'zod'
import type { Fleet } from '../fleet/fleet.ts'

export const ServersView = z
  .object({
    decider: z
      .object({
        server: z.string().describe('its machine, address and process'),
        url: z.string().nullable(),
        since: z.string().nullable(),
        left_ms: z.number().describe('how long its lease is still valid; it is renewed every two seconds'),
      })
      .nullable()
      .describe('null: no server decides at this moment; another takes over within seconds, or has to be started'),
    epoch: z.number().int().describe('grows each time the right to decide changes hands'),
    servers: z.array(
      z.object({
        host: z.string(),
        pid: z.number().int(),
        url: z.string().nullable(),
        version: z.string(),
        since: z.string(),
        heard_ms_ago: z.number().describe('when it last said that it lives; every two seconds is usual'),
        decides: z.boolean(),
        same_home: z.boolean().describe('it works with the files of the home of the server that was asked'),
      }),
    ),
  })
  .nullable()
  .describe('the servers that share the store; null: with SQLite one server has it for itself')

/** Whoever sees some projects only sees the same servers. */
export async function serversView(fleet: Fleet): Promise<z.infer<typeof ServersView>> {
  const { heartbeats } = (fleet.view?.whole ?? fleet).store
  if (!heartbeats) return null
  const [{ epoch, server, since, leftMs }, servers] = await Promise.all([heartbeats.held(), heartbeats.servers()])
  const isHeld = leftMs > 0 && server !== null
  return {
    epoch,
    decider: isHeld
      ? { server: `${server.host} (process ${server.pid})`, url: server.url, since, left_ms: Math.round(leftMs) }
      : null,
    servers: servers.map(({ id, host, pid, url, version, home, since: from, quietMs }) => ({
      ...{ host, pid, url, version, since: from },
      heard_ms_ago: Math.round(quietMs),
      decides: isHeld && id === server.id,
      same_home: home === fleet.home.id,
    })),
  }
}
