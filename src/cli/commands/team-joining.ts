import type { Command } from 'commander'
import type { z } from 'zod'
import { AGENT_MCP } from '../../domain/records/mcp-server.ts'
import { MEMBER_ROLES } from '../../domain/records/team.ts'
import type { memberTerminals } from '../../operations/member-terminals.ts'
import { addFields, does, type Field, inputFrom } from '../command.ts'

type Joined = z.infer<Extract<(typeof memberTerminals)[number], { name: 'join_team' }>['output']>

const FIELDS: readonly Field[] = [
  { flags: '--role <role>', field: 'role', summary: 'role in the team (worker)', choices: MEMBER_ROLES },
  { flags: '--hours <n>', field: 'hours', summary: 'how long its token is valid (24)', kind: 'number' },
]

/** A session that a person started joins a team. */
export function addJoining(team: Command): void {
  const join = team
    .command('join')
    .description('take a session that you started yourself into a team')
    .argument('<team>', 'name or id of the team')
    .argument('<name>', 'its name in the team')
    .option('--export', 'print only lines for eval')
  does(addFields(join, FIELDS), async (cli, [team_id, handle], options) => {
    const answer = await cli.ask<Joined>('join_team', { ...inputFrom(FIELDS, options), team_id, handle })
    const { url } = answer
    cli.terminal.tell(answer, () => {
      cli.terminal.print(`export FLEET_URL='${url}'`)
      cli.terminal.print(`export FLEET_TOKEN='${answer.token}'`)
      if (options.export) return
      cli.terminal.note(`${answer.handle} is in the team until ${answer.until}. These lines belong into its terminal.`)
      cli.terminal.note(
        `Its MCP server: ${url}${AGENT_MCP}?tools=inside,teams with the header Authorization: Bearer $FLEET_TOKEN`,
      )
    })
  })
  const leave = team
    .command('leave')
    .description('end the token of a session that joined a team')
    .argument('<team>', 'name or id of the team')
    .argument('<name>', 'its name in the team')
  does(leave, async (cli, [team_id, member]) => {
    const answer = await cli.ask('leave_team', { team_id, member })
    cli.terminal.tell(answer, () => cli.terminal.print(`${member} has left.`))
  })
}
