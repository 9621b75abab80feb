/**
 * Every action on the outside world that a crash could interrupt goes through `effect` under a name from this list. The
 * chaos suite takes the names from here, kills a real server before and after each, and fails if one is never reached.
 */
export const EFFECTS = [
  'commit.wish',
  'commit.project-deleted',
  'commit.forgotten',
  'commit.session-start',
  'commit.dispatch-failed',
  'commit.not-ready',
  'commit.dependency-met',
  'commit.session-running',
  'commit.session-stopping',
  'commit.session-noted',
  'commit.message-arrived',
  'commit.question',
  'commit.answer-delivered',
  'commit.session-ended',
  'commit.landing-commit',
  'commit.evidence',
  'commit.end-moved',
  'commit.landing-decided',
  'commit.landed',
  'commit.landed-with',
  'commit.pull-request',
  'commit.base-followed',
  'commit.undo-commit',
  'commit.undone',
  'commit.undone-with',
  'commit.worktree-removed',
  'commit.side-process',
  'commit.plan-failed',
  'commit.loop',
  'commit.counts',
  'commit.fault',
  'commit.notification',
  'commit.mail-handed',
  'commit.mail-heard',
  'commit.mail-settled',
  'commit.mail-due',
  'commit.member-woken',
  'commit.member-health',
  'commit.swarm-ended',
  'commit.checkpoint-handed',
  'commit.reservations-ended',
  'commit.spawn',
  'commit.terminal',
  'commit.plugin',
  'commit.schedule',
  'commit.workflow-made',
  'commit.stage',
  'commit.workflow-ended',
  'spawn.setup',
  'spawn.agent',
  'spawn.check',
  'spawn.side-process',
  'spawn.courier',
  'launch.write',
  'claim.take',
  'fifo.make',
  'message.rename',
  'signal.end-input',
  'signal.terminate',
  'signal.kill',
  'blob.rename',
  'holder.rename',
  'port.rename',
  'files.copy',
  'files.forget',
  'git.worktree-record',
  'git.worktree-add',
  'git.worktree-checkout',
  'git.worktree-ready',
  'git.worktree-remove',
  'warm.lay-aside',
  'warm.reset',
  'warm.ready',
  'warm.take',
  'trash.move',
  'trash.remove',
  'git.take-in',
  'git.submodules',
  'git.add',
  'git.commit',
  'git.commit-tree',
  'git.merge-tree',
  'git.update-ref',
  'git.fast-forward',
  'git.merge-base-into-branch',
  'git.scratch',
  'git.init',
  'git.fetch',
  'git.push',
  'gh.pull-request',
  'notification.send',
  'plugin.tell',
  'tmux.open',
  'tmux.type',
  'tmux.close',
  'bd.claim',
  'bd.close',
  'beads.claim',
] as const

export type EffectName = (typeof EFFECTS)[number]
type Witness = (name: EffectName, moment: 'before' | 'after') => void

// A test process sets its witness before the program loads; a normal run has none.
const witness = (globalThis as { [key: symbol]: unknown })[Symbol.for('flotilla.effects')] as Witness | undefined

/** Asks whether this server may act now. Returns whether it still may, a moment later. Throws if it does not decide. */
export type Guard = () => Promise<() => boolean>
let guard: Guard | undefined

/**
 * Where several servers share a store, each act on the outside asks first who decides: a server may have been stopped
 * between a commit and what follows from it. Returns how to end this. Elsewhere nobody is asked, and nothing waits.
 */
export function guardEffects(next: Guard): () => void {
  guard = next
  return () => {
    if (guard === next) guard = undefined
  }
}

/** Commits check the lease themselves. The others belong to a server that only answers, too. */
const isGuarded = (name: EffectName): boolean =>
  !name.startsWith('commit.') && name !== 'blob.rename' && name !== 'holder.rename' && name !== 'port.rename'

export async function effect<T>(name: EffectName, run: () => T | Promise<T>): Promise<T> {
  witness?.(name, 'before')
  if (guard && isGuarded(name)) for (let mayStill = await guard(); !mayStill(); ) mayStill = await guard()
  const result = await run()
  witness?.(name, 'after')
  return result
}
