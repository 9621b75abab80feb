import type { Command } from 'commander'
import { shortId } from '../../domain/ids.ts'
import { does } from '../command.ts'

interface RuleView {
  id: string
  scope: 'session' | 'project'
  project_id: string
  mission_id: string | null
  covers: string
  created_at: string
}

export function addApprovals(program: Command): void {
  const approvals = program.command('approvals').description('manage what agents may do without asking again')
  const list = approvals
    .command('list')
    .description('list the rules made with fleet answer … allow --for-session or --always')
    .option('--project <project>', 'only rules of this project (id or first letters)')
  does(list, async (cli, _, options) => {
    const input = { project_id: options.project, limit: 500 }
    const answer = await cli.ask<{ rules: RuleView[] }>('list_approval_rules', input)
    if (cli.terminal.json) return void cli.terminal.data(answer)
    for (const { id, scope, project_id, mission_id, covers } of answer.rules) {
      const where = scope === 'project' ? `project ${shortId(project_id)}` : `session of ${shortId(mission_id ?? '')}`
      cli.terminal.print(`${cli.terminal.paint('bold', shortId(id))}  ${where}  ${cli.terminal.foreign(covers)}`)
    }
    if (!answer.rules.length) cli.terminal.note('There are no rules: agents ask every time.')
    return undefined
  })
  const revoke = approvals
    .command('revoke')
    .description('delete a rule; agents ask again')
    .argument('<rule>', 'id or first letters')
  does(revoke, async (cli, [rule]) => {
    const revoked = await cli.ask<RuleView>('revoke_approval_rule', { rule_id: rule })
    if (cli.terminal.json) return void cli.terminal.data(revoked)
    cli.terminal.print(`Revoked. ${cli.terminal.foreign(revoked.covers)}`)
    return undefined
  })
}
