import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { editsOf, patchesOf } from '../../agents/edits.ts'
import { type ApprovalRule, filesOf, type RuleScope, subjectOf } from '../../domain/records/approval-rule.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Question } from '../../domain/records/talk.ts'
import type { Change, Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { CONTINUES } from '../dispatch/next-session.ts'
import type { Fleet } from '../fleet.ts'
import { current, derivedId, put, sessionsOf } from '../records.ts'

/** What a rule made from this request would cover; null where no rule can be made. */
export function coveredBy(session: Session, tool: string, input: unknown): string | null {
  const { changes } = (input ?? {}) as { changes?: unknown }
  const { edits = [] } = Array.isArray(changes) ? patchesOf(changes) : editsOf(tool, input)
  return subjectOf({ input, files: edits.map(({ path }) => path), worktree: session.worktree })
}

/** The rule that allows this, if a person has made one. */
export async function ruleFor(
  fleet: Fleet,
  session: Session,
  tool: string,
  subject: string | null,
): Promise<Stored<ApprovalRule> | undefined> {
  if (subject === null || leadsElsewhere(subject, session.worktree)) return undefined
  const first = await beginningOf(fleet, session)
  for (const owner of [session.project_id, first.id]) {
    const rule: Stored<ApprovalRule> | undefined = await fleet.store.get('approval_rules', ruleId(owner, tool, subject))
    // The id is a short digest, so what it stands for is compared too.
    if (rule && rule.value.tool === tool && rule.value.subject === subject && ownerOf(rule.value) === owner) return rule
  }
  return undefined
}

const ownerOf = ({ scope, project_id, session_id }: ApprovalRule): string | null =>
  scope === 'project' ? project_id : session_id
const ruleId = (owner: string, tool: string, subject: string): string => derivedId('approval', owner, tool, subject)

/** A link in a path leads to another file than the person was shown. */
function leadsElsewhere(subject: string, worktree: string | null): boolean {
  return filesOf(subject).some(file => {
    const parts = file.split('/').slice(1)
    return parts.some((_, at) =>
      lstatSync(join(worktree ?? '/', ...parts.slice(0, at + 1)), { throwIfNoEntry: false })?.isSymbolicLink(),
    )
  })
}

/** The session that began this conversation. A parked session that is resumed belongs to the same one. */
async function beginningOf(fleet: Fleet, session: Session): Promise<Session> {
  const sessions = (await sessionsOf(fleet, session.mission_id))
    .map(({ value }) => value)
    .toSorted((one, other) => one.number - other.number)
  let first = session
  while (first.resumes !== null && CONTINUES.includes(first.reason)) {
    const before = sessions.findLast(({ number }) => number < first.number)
    if (!before) break
    first = before
  }
  return first
}

/** The rule that a person makes with their answer. It is committed with the answer. */
export async function newRule(
  fleet: Fleet,
  question: Question,
  scope: RuleScope,
  when: { actor: string; now: string },
): Promise<{ changes: Change[]; events: NewEvent[] }> {
  const { value: session } = await current(fleet, 'sessions', question.session_id)
  const first = await beginningOf(fleet, session)
  const tool = question.tool!
  const subject = question.covers!
  const owner = scope === 'project' ? question.project_id : first.id
  const rule: ApprovalRule = {
    id: ruleId(owner, tool, subject),
    scope,
    project_id: question.project_id,
    ...(scope === 'session'
      ? { mission_id: question.mission_id, session_id: first.id }
      : { mission_id: null, session_id: null }),
    tool,
    subject,
    question_id: question.id,
    agent: session.agent,
    created_by: when.actor,
    created_at: when.now,
    uses: 0,
    last_used_at: null,
  }
  if (await fleet.store.get('approval_rules', rule.id)) return { changes: [], events: [] }
  return { changes: [put('approval_rules', rule, 'absent')], events: [told(rule, 'approval_rule_made', when)] }
}

export async function revokeRule(fleet: Fleet, ask: Ask, id: string): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'approval_rules', id)
    return {
      subject: id,
      changes: [{ remove: 'approval_rules', id, expects: version }],
      events: [told(value, 'approval_rule_revoked', by(fleet, ask))],
    }
  })
}

const told = (
  { id, project_id, mission_id, scope, tool, subject }: ApprovalRule,
  kind: 'approval_rule_made' | 'approval_rule_revoked',
  { actor, now }: { actor: string; now: string },
): NewEvent => ({ kind, time: now, actor, project_id, mission_id, data: { rule: id, scope, tool, subject } })
