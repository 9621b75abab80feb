import type { ProcessView } from '../operations/process-view.ts'
import type { SessionView } from '../operations/views.ts'
import type { Cli } from './command.ts'

const LOOK_EVERY_MS = 100
const REASON = 'The fleet was stopped together with its agents: fleet down --agents.'

interface Kept {
  processes: ProcessView[]
}
interface Live {
  sessions: SessionView[]
}

/**
 * Cancels every live session, stops all side processes, and waits until they have ended. It pauses the fleet first,
 * because the queue would fill the free slots. The result is a function that undoes the pause once the server is down.
 */
export async function stopAgents(cli: Cli): Promise<() => Promise<void>> {
  const client = await cli.client()
  const { paused } = await client.call<{ paused: boolean }>('system_status', {})
  if (!paused) await client.call('pause', {})
  const live = async (): Promise<SessionView[]> =>
    (await client.call<Live>('list_sessions', { live: true, limit: 500 })).sessions.filter(
      // A person at their own terminal is not an agent.
      session => session.reason !== 'takeover',
    )
  const asked = new Set<string>()
  for (let left = await live(); left.length; left = await live()) {
    for (const session of left.filter(each => !asked.has(each.id))) {
      asked.add(session.id)
      // It may have ended since it was listed.
      await client.call('cancel_session', { session_id: session.id, reason: REASON }).catch(() => {})
    }
    cli.terminal.progress(`Stopping ${left.length} ${left.length === 1 ? 'agent' : 'agents'}…`)
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
  }
  await stopSideProcess(cli)
  cli.terminal.progress('')
  return async () => {
    if (!paused) await client.call('unpause', {})
  }
}

/** Without a server, nothing would stop previews when their time is up. */
async function stopSideProcess(cli: Cli): Promise<void> {
  const client = await cli.client()
  const live = async () => (await client.call<Kept>('list_processes', { limit: 500 })).processes
  for (const { kind, mission_id } of await live()) {
    const operation = kind === 'preview' ? 'stop_preview' : 'stop_remote_control'
    await client.call(operation, { mission_id }).catch(() => {})
  }
  while ((await live()).length) await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
}
