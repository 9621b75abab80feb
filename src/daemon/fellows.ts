import { Unreachable } from '../domain/errors.ts'
import type { Fellows, Fleet } from '../fleet/fleet.ts'
import { FORWARDED, type Forwarded, PassedOn, sealed } from '../operations/forwarding.ts'
import { VERSION } from '../platform/version.ts'
import { type Heartbeats, type ServerInfo, serverInWords } from '../store/index.ts'

/** The other servers of the store, for a server that does not decide. */
export function fellowsOf(fleet: Fleet, heartbeats: Heartbeats, me: () => ServerInfo): Fellows {
  async function decider(): Promise<ServerInfo & { url: string }> {
    const { server, leftMs } = await heartbeats.held()
    if (leftMs <= 0 || !server?.url || server.id === me().id)
      throw new Unreachable('No server decides at this moment. Another one takes over within 8 seconds.', {
        try: 'Ask again then. fleet status lists the servers.',
        facts: { retry_after_seconds: 2 },
      })
    return { ...server, url: server.url }
  }
  return {
    async forward(asked, signal) {
      const server = await decider()
      if (server.version !== VERSION)
        throw new Unreachable(
          `This needs the server that decides: ${serverInWords(server)}. It has version ${server.version} and this one ${VERSION}, so it is not passed on.`,
          { try: `Ask it: ${server.url}` },
        )
      const body = JSON.stringify(await sealed(fleet.keys, asked as Forwarded, Date.now()))
      const response = await fetch(new URL(FORWARDED, server.url), {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body, signal },
      }).catch(cause => {
        if (signal.aborted) throw cause
        throw new Unreachable(`The server that decides cannot be reached: ${serverInWords(server)}.`, {
          ...{ try: `Ask it yourself: ${server.url}. If it is gone, another takes over within 8 seconds.`, cause },
          facts: { retry_after_seconds: 2 },
        })
      })
      const answer = (await response.json().catch(() => ({}))) as { output?: unknown; error?: { message?: string } }
      if (!response.ok) throw new PassedOn(response.status, answer.error ?? {})
      return answer.output
    },
    async refusal(what) {
      const server = await decider().catch((error: unknown) => error as Unreachable)
      if (server instanceof Error) return server
      return new Unreachable(`${what} needs the server that decides: ${serverInWords(server)}.`, {
        try: `Open that one: ${server.url}`,
        facts: { url: server.url },
      })
    },
  }
}
