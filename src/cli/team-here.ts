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
  const isNamed = 'team_id' in input && !!input.team_id
  return cli
    .ask<T>(operation, input)
    .catch(error => (isNamed ? refuse(error) : inTeamHere(cli, error, operation, input)))
}

/** The team that is meant where nobody names one. */
export const teamMeant = <T>(cli: Cli): Promise<T> =>
  cli.ask<T>('team_status', {}).catch(error => inTeamHere(cli, error, 'get_team', {}))

async function inTeamHere<T>(cli: Cli, error: unknown, operation: string, input: object): Promise<T> {
  const isMissing = error instanceof Refusal && error.code === 'invalid_input' && error.facts.field === 'team_id'
  // Whoever may not ask for projects is told what was refused first.
  const team_id = isMissing ? await teamHere(cli).catch(() => undefined) : undefined
  return team_id === undefined ? refuse(error) : cli.ask<T>(operation, { ...input, team_id })
}

function refuse(error: unknown): never {
  throw error
}

async function teamHere(cli: Cli): Promise<string | undefined> {
  const here = await knownProjectHere(cli)
  if (!here) return undefined
  const { teams } = await cli.ask<{ teams: { id: string }[] }>('list_teams', { project_id: here.project.id })
  return teams.length === 1 ? teams[0]!.id : undefined
}
