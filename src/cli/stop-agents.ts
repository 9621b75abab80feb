import type { SessionView } from '../operations/views.ts'
import type { Cli } from './command.ts'

const LOOK_EVERY_MS = 100

interface Live {
  sessions: SessionView[]
}

/**
 * Cancels every live session and waits until all have ended. The fleet is paused meanwhile, or the queue would fill the
 * free slots; answers with how to take that back once the server is down.
 */
export async function stopAgents(cli: Cli): Promise<() => Promise<void>> {
  const client = await cli.client()
  const { paused } = await client.call<{ paused: boolean }>('system_status', {})
  if (!paused) await client.call('pause', {})
  const live = async (): Promise<SessionView[]> =>
    (await client.call<Live>('list_sessions', { live: true, limit: 500 })).sessions.filter(
      // A person at their own terminal is no agent.
      session => session.reason !== 'takeover',
    )
  const asked = new Set<string>()
  for (let left = await live(); left.length; left = await live()) {
    for (const session of left.filter(each => !asked.has(each.id))) {
      asked.add(session.id)
      // It may have ended since it was listed.
      await client.call('cancel_session', { session_id: session.id }).catch(() => {})
    }
    cli.terminal.progress(`Stopping ${left.length} ${left.length === 1 ? 'agent' : 'agents'}…`)
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
  }
  cli.terminal.progress('')
  return async () => {
    if (!paused) await client.call('unpause', {})
  }
}
