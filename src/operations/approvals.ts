import * as z from 'zod'
import { ApprovalRule, coverage } from '../domain/records/approval-rule.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { deciderOf } from '../fleet/plugins/deciders.ts'
import { revokeRule } from '../fleet/questions/approvals.ts'
import { lookUp } from '../fleet/records.ts'
import { isPlugin, notForPlugins, requireMay } from './authorize.ts'
import { ask, Paging, ProjectRef, Ref } from './inputs.ts'
import { type Caller, type Context, command, query } from './operation.ts'
import { requirePerson } from './person.ts'
import { reaches, reachOf } from './roles.ts'

export const RuleView = ApprovalRule.extend({
  covers: z.string().describe('what the rule allows, in words'),
  mission_title: z.string().nullable().describe('of the mission of its session'),
})
type RuleView = z.infer<typeof RuleView>

async function view(fleet: Fleet, rule: ApprovalRule): Promise<RuleView> {
  const mission = rule.mission_id ? await fleet.store.get('missions', rule.mission_id) : undefined
  return { ...rule, covers: coverage(rule.tool, rule.subject), mission_title: mission?.value.title ?? null }
}

/** A rule answers for a person. */
export const requireRuleMaker = (caller: Caller): void => requirePerson(caller, 'make or revoke approval rules')

/** A plugin counts as the person whose account it names, if its settings know them: what they may decide, they may. */
export async function requireDecider(
  { fleet, caller }: Pick<Context, 'fleet' | 'caller'>,
  projectId: string,
  account: string | undefined,
): Promise<void> {
  if (!isPlugin(caller)) return requireMay(caller, 'approvals.decide', projectId)
  const decider = await deciderOf(fleet, caller.plugin, account)
  if (decider === 'owner' || (decider && reaches(reachOf(decider.grants, 'approvals.decide'), projectId))) return
  throw notForPlugins()
}

export const approvals = [
  query({
    name: 'list_approval_rules',
    may: 'approvals.decide',
    mcp: 'talk',
    summary: 'List what people have allowed for a session or always, so that nobody is asked again',
    http: 'GET /api/approval-rules',
    input: z.object({ project_id: ProjectRef.optional(), limit: Paging.limit, cursor: Paging.cursor }),
    output: z.object({ rules: z.array(RuleView), cursor: z.string().nullable() }),
    run: async ({ fleet }, { project_id, limit, cursor }) => {
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      const range = project ? { index: 'project', equals: [project] } : { index: 'created' }
      const page = await fleet.store.find('approval_rules', { ...range, limit, cursor, newestFirst: true })
      const rules = await Promise.all(page.items.map(({ value }) => view(fleet, value)))
      return { rules, cursor: page.cursor ?? null }
    },
  }),
  command({
    name: 'revoke_approval_rule',
    may: 'approvals.decide',
    mcp: 'talk',
    summary: 'Revoke a rule, so that agents ask again',
    http: 'DELETE /api/approval-rules/:rule_id',
    input: z.object({ rule_id: Ref }),
    output: RuleView,
    run: async (context, { rule_id }) => {
      requireRuleMaker(context.caller)
      const { value } = await lookUp(context.fleet, 'approval_rules', rule_id)
      const revoked = await view(context.fleet, value)
      await revokeRule(context.fleet, ask(context, 'revoke_approval_rule'), value.id)
      return revoked
    },
  }),
]
