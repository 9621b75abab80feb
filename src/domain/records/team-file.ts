import * as z from 'zod'
import { InvalidInput } from '../errors.ts'
import { fuzzyFind } from '../rules/fuzzy.ts'
import { isReserved } from '../rules/mail.ts'
import { MissionSettings } from './mission.ts'
import { Handle, Member, MemberRole, Team } from './team.ts'

/** A team and all its members are made in one commit, which has room for no more. */
export const MOST_IN_FILE = 20
export const MAX_TEAM_FILE_CHARS = 500_000

const { agent, model, effort, max_budget_usd, tool_preset, approvals } = MissionSettings.shape

/** What can be said about a new member, in a file or one by one. */
export const memberFields = {
  handle: Handle,
  role: MemberRole.default('worker'),
  charter: z
    .string()
    .max(100_000)
    .default('')
    .describe('its standing instructions; for the agent shell, the script that each wake runs'),
  agent: agent.unwrap().optional().describe('default: the agent of the project'),
  model: model.unwrap().optional(),
  effort: effort.unwrap().optional(),
  max_budget_usd: max_budget_usd.unwrap().optional().describe('for all its sessions together'),
  tool_preset: tool_preset.unwrap().optional(),
  approvals: approvals.unwrap().optional(),
  labels: Member.shape.labels,
}

const FileMember = z.strictObject({
  ...memberFields,
  works_for: Handle.optional().describe('another member of the file, who is told first if its answers are overdue'),
})
export type FileMember = z.infer<typeof FileMember>

/** A team described in one file. */
export const TeamFile = z.strictObject({
  description: Team.shape.description,
  max_members: Team.shape.max_members,
  max_budget_usd: Team.shape.max_budget_usd,
  spawning: Team.shape.spawning,
  members: z.array(FileMember).min(1).max(MOST_IN_FILE),
})
export type TeamFile = z.infer<typeof TeamFile>

/** Refuses what each member may say and all together may not. The field leads to the place in the file. */
export function requireTeamFile({ members, max_members }: Pick<TeamFile, 'members' | 'max_members'>): void {
  if (members.length > max_members)
    throw new InvalidInput('members', `are ${members.length}, and max_members is ${max_members}`)
  const places = new Map<string, FileMember>()
  for (const [at, member] of members.entries()) {
    const name = member.handle.toLowerCase()
    const field = `members.${at}.handle`
    if (isReserved(name)) throw new InvalidInput(field, `${member.handle} is the name of a group`)
    if (places.has(name)) throw new InvalidInput(field, `${member.handle} is there twice`)
    places.set(name, member)
  }
  for (const [at, { handle, works_for }] of members.entries()) {
    const field = `members.${at}.works_for`
    if (!works_for) continue
    if (!places.has(works_for.toLowerCase())) {
      const near = fuzzyFind(works_for, [...members.map(each => each.handle)], 3)
      throw new InvalidInput(field, `nobody in the file is called ${works_for}`, {
        try: `There ${members.length === 1 ? 'is' : 'are'} ${(near.length ? near : members.map(each => each.handle)).join(', ')}.`,
      })
    }
    const above = new Set<string>()
    for (let boss: string | undefined = works_for; boss; boss = places.get(boss.toLowerCase())?.works_for) {
      if (boss.toLowerCase() === handle.toLowerCase())
        throw new InvalidInput(field, `${handle} would work for itself`, { try: 'Leave out works_for of the lead.' })
      if (above.has(boss.toLowerCase())) break
      above.add(boss.toLowerCase())
    }
  }
}

/** Who works for whom, as a member is told it. */
export function placeInWords({ handle, works_for }: FileMember, members: readonly FileMember[]): string {
  const boss = members.find(each => each.handle.toLowerCase() === works_for?.toLowerCase())
  const own = members.filter(each => each.works_for?.toLowerCase() === handle.toLowerCase())
  const told = (each: FileMember): string => `${each.handle} (${each.role})`
  return [
    boss && `You work for ${told(boss)}.`,
    own.length > 0 && `${own.map(told).join(', ')} ${own.length === 1 ? 'works' : 'work'} for you.`,
  ]
    .filter(Boolean)
    .join(' ')
}
