import { Forbidden, NotAllowed } from '../errors.ts'
import type { Checkpoint, Standing } from '../records/checkpoint.ts'
import type { Member } from '../records/team.ts'
import { quoted } from './mail-prompt.ts'

/** Its addressee accepts or rejects it. The first decision counts. */
export function decided(
  checkpoint: Checkpoint,
  { id, handle }: Pick<Member, 'id' | 'handle'>,
  decision: 'accepted' | 'rejected',
  { outcome, now }: { outcome: string | null; now: string },
): Checkpoint {
  const { to, state } = checkpoint
  if (to.member_id !== id)
    throw new Forbidden(`Checkpoint ${checkpoint.id} is addressed to ${to.handle}, not to ${handle}.`)
  if (state !== 'open')
    throw new NotAllowed(`This checkpoint is ${state} already.`, { facts: { state, at: checkpoint.decided_at } })
  return { ...checkpoint, state: decision, outcome, decided_at: now }
}

/**
 * What becomes of a loaded checkpoint when a session of its member starts: told to that session, or over because the
 * session that was told about it completed.
 */
export function loadedFor(
  { loading }: Pick<Checkpoint, 'loading'>,
  session: string,
  completed: (session: string) => boolean,
): 'tell' | 'told' {
  const before = loading?.session_id ?? null
  return before === null || before === session || !completed(before) ? 'tell' : 'told'
}

/** A checkpoint as an agent is told it. What its author wrote is quoted. */
export function checkpointInWords(
  { id, from, commit, created_at }: Pick<Checkpoint, 'id' | 'from' | 'commit' | 'created_at'>,
  standing: Standing,
): string {
  const head = `Checkpoint ${id} of ${from.handle}, ${from.role}, ${created_at}${commit ? `, commit ${commit}` : ''}`
  return [head, quoted(standingInWords(standing))].join('\n')
}

export function standingInWords({ goal, now, test, done_this_session, ...lists }: Standing): string {
  const done = done_this_session.map(({ task, files }) => (files.length ? `${task} (${files.join(', ')})` : task))
  const parts: [string, readonly string[]][] = [
    ['Done', done],
    ['Worked', lists.worked],
    ['Failed', lists.failed],
    ['Blockers', lists.blockers],
    ['Questions', lists.questions],
    ['Next', lists.next],
  ]
  return [
    `Goal: ${goal}`,
    `Now: ${now}`,
    ...(test ? [`Test: ${test}`] : []),
    ...parts.flatMap(([title, lines]) => (lines.length ? [`${title}:`, ...lines.map(line => `- ${line}`)] : [])),
  ].join('\n')
}
