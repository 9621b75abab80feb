import { InvalidInput, NotAllowed, NotFound, Refusal } from '../../domain/errors.ts'
import type { Project } from '../../domain/records/project.ts'
import { Team } from '../../domain/records/team.ts'
import { type FileMember, placeInWords, requireTeamFile, type TeamFile } from '../../domain/records/team-file.ts'
import type { By } from '../../domain/rules/life.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { runsScripts } from '../missions/agents.ts'
import { current, derivedId, lookUp, put } from '../records.ts'
import { readyToAdd } from './members.ts'
import { aboutTeam, operatorOf, teamsCalled } from './teams.ts'

export type NewTeam = Pick<Team, 'name' | 'description' | 'max_members' | 'max_budget_usd'> &
  Partial<Pick<TeamFile, 'spawning' | 'members'>>

/** Makes a team with its operator: the person who made it. Its first members are made in the same commit. */
export async function createTeam(fleet: Fleet, ask: Ask, projectRef: string, wanted: NewTeam): Promise<Stored<Team>> {
  const { value: project } = await lookUp(fleet, 'projects', projectRef)
  const { members = [], ...fields } = wanted
  if (members.length) requireTeamFile({ ...fields, members })
  const makeMembers = await readied(fleet, ask, project, wanted, members)
  const id = await oncePerKey(fleet, ask, async () => {
    const earlier = (await teamsCalled(fleet, wanted.name)).filter(({ value }) => value.project_id === project.id)
    if (earlier.some(({ value }) => value.ended_at === null))
      throw new InvalidInput('name', `is taken: ${project.name} has a team called ${wanted.name}`)
    const { value: now, version } = await current(fleet, 'projects', project.id)
    if (now.deleting) throw new NotAllowed(`Project ${project.name} is being deleted.`)
    const when = by(fleet, ask)
    const times = { created_at: when.now, updated_at: when.now }
    // Two who make the same name at once make the same id, so only one of them can.
    const id = derivedId('team', project.id, wanted.name.toLowerCase(), String(earlier.length))
    const operator = operatorOf({ id, project_id: project.id }, when)
    const made = makeMembers({ id }, when)
    const everybody = [operator, ...made.map(({ member }) => member)]
    const roster = everybody.map(({ handle, id: member_id, person }) => ({
      handle,
      member_id,
      is_agent: person === null,
    }))
    const team = Team.parse({ ...fields, id, project_id: project.id, roster, ...times })
    const joined = made.map(({ member: { id: member, handle, role } }) =>
      aboutTeam(team, 'member_added', when, { member, handle, role }),
    )
    return {
      subject: id,
      changes: [
        put('teams', team, 'absent'),
        ...everybody.map(member => put('members', member, 'absent')),
        ...made.map(({ mission }) => put('missions', mission, 'absent')),
      ],
      checks: [{ collection: 'projects', id: project.id, expects: version }],
      events: [aboutTeam(team, 'team_created', when, { name: team.name }), ...joined],
    }
  })
  return current(fleet, 'teams', id)
}

/** Checks all members before anything is written. What it returns makes their records. */
async function readied(
  fleet: Fleet,
  ask: Ask,
  project: Project,
  team: Pick<Team, 'name' | 'description'>,
  members: readonly FileMember[],
) {
  const ready = await Promise.all(
    members.map(async (member, at) => {
      const { handle, role, labels, works_for: _, charter, ...settings } = member
      try {
        // The charter of a script is run, so nothing is written into it.
        const place = runsScripts(fleet, settings.agent) ? '' : placeInWords(member, members)
        const whole = [charter, place].filter(Boolean).join('\n\n')
        return await readyToAdd(fleet, ask, project, team, { handle, role, labels, charter: whole, settings })
      } catch (error) {
        throw error instanceof Refusal ? ofMember(at, error) : error
      }
    }),
  )
  return (of: Pick<Team, 'id'>, when: By) => {
    const made = ready.map(make => make(of, when))
    const idOf = (name: string | undefined): string | null =>
      made.find(({ member }) => member.handle.toLowerCase() === name?.toLowerCase())?.member.id ?? null
    return made.map(({ member, mission }, at) => ({
      member: { ...member, works_for: idOf(members[at]!.works_for) },
      mission,
    }))
  }
}

/** What is wrong with a member, with the field that leads to it. */
function ofMember(at: number, error: Refusal): Refusal {
  if (error instanceof NotFound) return new InvalidInput(`members.${at}.agent`, error.message, { try: error.hint })
  const { field } = error.facts
  if (!(error instanceof InvalidInput) || typeof field !== 'string') return error
  return new InvalidInput(`members.${at}.${field}`, error.message.slice(`${field}: `.length), { try: error.hint })
}
