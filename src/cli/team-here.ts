import { Refusal } from '../domain/errors.ts'
import type { Cli, Field } from './command.ts'
import { knownProjectHere } from './project-here.ts'

export const TEAM: Field = {
  flags: '--team <team>',
  field: 'team_id',
  summary: 'team (default: your own, the only one, or that of this repository)',
}

/**
 * Asks about a team. Where nobody names one and there are several, that of the repository which the person is in is
 * meant, if it has one.
 */
export async function askTeam<T>(cli: Cli, operation: string, input: object): Promise<T> {
  return cli.ask<T>(operation, input).catch(async error => {
    const isMissing = error instanceof Refusal && error.code === 'invalid_input' && error.facts.field === 'team_id'
    const team_id = isMissing && !('team_id' in input && input.team_id) ? await teamHere(cli) : undefined
    if (team_id === undefined) throw error
    return cli.ask<T>(operation, { ...input, team_id })
  })
}

async function teamHere(cli: Cli): Promise<string | undefined> {
  const here = await knownProjectHere(cli)
  if (!here) return undefined
  const { teams } = await cli.ask<{ teams: { id: string }[] }>('list_teams', { project_id: here.project.id })
  return teams.length === 1 ? teams[0]!.id : undefined
}
