import { emptyDigest } from '../../agents/index.ts'
import type { Session } from '../../domain/records/session.ts'
import { ProcessTree } from '../../runner/process-tree.ts'
import type { Fleet } from '../fleet.ts'
import { endSession } from '../sessions/ending.ts'
import { markOf } from '../sessions/environment.ts'
import { updateSession } from '../sessions/record.ts'
import { worktreeTurns } from '../worktrees/retiring.ts'
import { tmuxOf, windowOf } from './panes.ts'
import { noteTerminal } from './states.ts'

export interface Why {
  text: string
  /** Its member was dismissed or its mission cancelled. */
  cancelled?: boolean
  /** Its window stays with what it showed last. */
  keepWindow?: boolean
}

/**
 * Ends what stands for a member in a terminal: its whole process tree, then its session, which takes in the work. What
 * happens to the mission is the same as after a headless session that completed: it waits for mail.
 */
export async function endTerminal(fleet: Fleet, session: Session, why: Why): Promise<void> {
  const outcome = why.cancelled ? ('cancelled' as const) : ('completed' as const)
  const stopping = session.stopping ?? { outcome, reason: why.text }
  await updateSession(fleet, session, 'commit.session-stopping', { stopping })
  const agent = fleet.agents.ofSession(session.agent)
  const swept = await endTree(fleet, session)
  // Before the session is over: what is over is not looked at again.
  if (session.reason === 'terminal' && !why.keepWindow) await tmuxOf(fleet).close(windowOf(session))
  await worktreeTurns.take(session.mission_id, () =>
    endSession(fleet, agent, session, {
      ...{ exit: { code: null }, swept, fault: null, spentBudget: null, workedSeconds: 0 },
      digest: { ...emptyDigest(), lastText: 'It worked in a terminal.' },
      directory: fleet.home.session(session.id),
    }),
  )
  await noteTerminal(fleet, session.member_id!, session.id, { state: 'ended', text: why.text })
}

/** Ends every process that its client started, wherever it went. */
export async function endTree(fleet: Fleet, session: Session): Promise<number> {
  if (session.reason !== 'terminal') return 0
  const tree = new ProcessTree({ mark: markOf(fleet, session.id), worktree: session.worktree })
  return tree.stop(fleet.settings.graceSeconds * 1000)
}
