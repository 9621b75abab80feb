import { InvalidInput, NotAllowed, NotFound } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { Mission, MissionSettings } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { Member, type MemberRole, type Team } from '../../domain/records/team.ts'
import { fuzzyFind } from '../../domain/rules/fuzzy.ts'
import * as life from '../../domain/rules/life.ts'
import { isReserved } from '../../domain/rules/mail.ts'
import { charterInWords } from '../../domain/rules/mail-prompt.ts'
import type { Batch, Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { isScript, requireCodingAgent } from '../missions/agents.ts'
import { requireHeld } from '../missions/requirements.ts'
import { current, put } from '../records.ts'
import { roomIn } from '../teamwork/swarms.ts'
import { requireConversation } from './continuing.ts'
import { aboutTeam, personId, requireTeam } from './teams.ts'

export interface NewMember {
  handle: string
  role: MemberRole
  charter: string
  labels: string[]
  swarm_id?: string
  /** The id of the member it works for. */
  works_for?: string
  settings: Partial<MissionSettings>
  placement?: Member['placement']
  /** A session whose conversation it goes on with, as a copy: its id or the first letters. */
  conversation?: string
  /** How many agents stand between it and a person who added one. */
  depth?: number
}

/** Adds an agent. It has a mission of its own, which waits for mail. */
export async function addMember(fleet: Fleet, ask: Ask, teamId: string, wanted: NewMember): Promise<Stored<Member>> {
  const { value: team } = await current(fleet, 'teams', teamId)
  const { value: project } = await current(fleet, 'projects', team.project_id)
  const make = await readyToAdd(fleet, ask, project, team, wanted)
  const id = await oncePerKey(fleet, ask, async () => {
    const when = by(fleet, ask)
    const { member, mission } = make(team, when)
    const joined = await joining(fleet, member, when)
    return { subject: member.id, ...joined, changes: [...joined.changes, put('missions', mission, 'absent')] }
  })
  return current(fleet, 'members', id)
}

type Made = { member: Member; mission: Mission }

/** Checks what a new agent of a team would be. What it returns makes its records. */
export async function readyToAdd(
  fleet: Fleet,
  ask: Ask,
  project: Project,
  team: Pick<Team, 'name' | 'description'>,
  wanted: NewMember,
): Promise<(team: Pick<Team, 'id'>, when: life.By) => Made> {
  const continued =
    wanted.conversation === undefined
      ? undefined
      : await requireConversation(fleet, project, wanted.conversation, wanted.settings.agent ?? undefined)
  const chosen = wanted.settings.agent ?? continued?.agent
  const script = isScript(fleet, ask, chosen)
  // What a person started themselves is no agent that the fleet could start.
  const isOutside = wanted.placement === 'outside'
  const agent = isOutside ? null : (chosen ?? (await requireCodingAgent(fleet, project)))
  const settings = MissionSettings.parse({
    ...wanted.settings,
    agent,
    title: `${wanted.handle} of ${team.name}`,
    landing: 'never',
    max_retries: fleet.settings.memberRestarts,
  })
  if (!isOutside) requireHeld(fleet, settings, project)
  const charter = script ? wanted.charter : charterInWords(wanted, team, wanted.charter)
  if (script && !charter.trim())
    throw new InvalidInput('charter', `is missing: ${agent} runs it as a script for each wake`)
  const prompt = await fleet.blobs.keep(charter)
  return ({ id: team_id }, { now }) => {
    const id = newId()
    const shared = { project_id: project.id, created_at: now, updated_at: now }
    const mission = Mission.parse({
      ...settings,
      ...{ id: newId(), prompt, script, member: { id, team_id }, ...shared },
      ...{ status: 'waiting', status_reason: life.FOR_MAIL },
    })
    const member = Member.parse({
      ...{ id, team_id, handle: wanted.handle, role: wanted.role, labels: wanted.labels, depth: wanted.depth },
      ...{ swarm_id: wanted.swarm_id ?? null, works_for: wanted.works_for ?? null, mission_id: mission.id, ...shared },
      ...{ placement: wanted.placement, continues: continued?.id },
    })
    return { member, mission }
  }
}

/** The changes that add a member to the roster of its team, unless its name is taken or there is no room. */
async function joining(
  fleet: Fleet,
  member: Member,
  when: life.By,
  expects: Stored<Member>['version'] | 'absent' = 'absent',
): Promise<Batch> {
  const { value: team, version } = await current(fleet, 'teams', member.team_id)
  requireTeam(team)
  const isAgent = member.person === null
  if (isReserved(member.handle))
    throw new InvalidInput('handle', `is the name of a group: ${member.handle}`, { try: 'Choose another name.' })
  const taken = team.roster.find(({ handle }) => handle.toLowerCase() === member.handle.toLowerCase())
  if (taken) throw new NotAllowed(`The team ${team.name} already has a member called ${taken.handle}.`)
  const agents = team.roster.filter(({ is_agent }) => is_agent)
  if (isAgent && agents.length >= team.max_members)
    throw new NotAllowed(`The team ${team.name} is full: it may have ${team.max_members} agents.`, {
      try: `Dismiss one, or fleet team set ${team.name} --max-members <n>`,
      facts: { max_members: team.max_members },
    })
  const { handle, id: member_id, swarm_id } = member
  const swarm = swarm_id ? await roomIn(fleet, team, swarm_id) : undefined
  const roster = [...team.roster, { handle, member_id, is_agent: isAgent, swarm_id }]
  return {
    ...(swarm && { checks: [{ collection: 'swarms', id: swarm.value.id, expects: swarm.version }] }),
    changes: [put('teams', { ...team, roster, updated_at: when.now }, version), put('members', member, expects)],
    events: [aboutTeam(team, 'member_added', when, { member: member.id, handle: member.handle, role: member.role })],
  }
}

/**
 * The person who asks, as a member of the team. Whoever writes for the first time, or again after they left, is added,
 * so that they can be answered.
 */
export async function personIn(
  fleet: Fleet,
  team: Team,
  person: { actor: string; name: string; role: MemberRole },
): Promise<Member> {
  const known = await findPerson(fleet, team, person.actor)
  if (known) return known
  const id = personId(team.id, person.actor)
  await retryOnConflict(async () => {
    const before = await fleet.store.get('members', id)
    if (before && before.value.dismissed_at === null) return
    const { value: now } = await current(fleet, 'teams', team.id)
    const when = { actor: person.actor, now: fleet.now() }
    const handle = freeHandle(before?.value.handle ?? person.name, now)
    const member = Member.parse({
      ...{ id, team_id: team.id, project_id: team.project_id, role: person.role, created_at: when.now },
      ...{ ...before?.value, person: person.actor, handle, dismissed_at: null, updated_at: when.now },
    })
    await fleet.commit('commit.wish', await joining(fleet, member, when, before?.version))
  })
  return (await current(fleet, 'members', id)).value
}

export async function findPerson(fleet: Fleet, { roster }: Team, actor: string): Promise<Member | undefined> {
  const people = roster.filter(({ is_agent }) => !is_agent)
  const found = await Promise.all(people.map(({ member_id }) => fleet.store.get('members', member_id)))
  return found.find(stored => stored?.value.person === actor)?.value
}

/** The name, or the first free one that is like it. */
export function freeHandle(name: string, { roster }: Team): string {
  const wish =
    name
      .replace(/[^A-Za-z0-9_-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 36) || 'person'
  const taken = new Set(roster.map(({ handle }) => handle.toLowerCase()))
  for (let n = 1; ; n++) {
    const handle = n === 1 ? wish : `${wish}-${n}`
    if (!taken.has(handle.toLowerCase()) && !isReserved(handle)) return handle
  }
}

/** The member of a team with this name or id. */
export async function lookUpMember(fleet: Fleet, team: Team, ref: string): Promise<Stored<Member>> {
  const name = ref.replace(/^@/, '').toLowerCase()
  const entry = team.roster.find(({ handle, member_id }) => handle.toLowerCase() === name || member_id === ref)
  if (entry) return current(fleet, 'members', entry.member_id)
  const near = fuzzyFind(
    name,
    team.roster.map(({ handle }) => handle),
    3,
  )
  throw new NotFound('member', ref, {
    try: near.length ? `The team ${team.name} has ${near.join(', ')}.` : `fleet team show ${team.name}`,
  })
}

type MemberChange = Partial<Pick<Member, 'paused' | 'role' | 'labels'>>

export async function changeMember(fleet: Fleet, ask: Ask, id: string, change: MemberChange): Promise<Stored<Member>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'members', id)
    if (value.dismissed_at) throw new NotAllowed(`${value.handle} was dismissed.`)
    const { value: team } = await current(fleet, 'teams', value.team_id)
    const when = by(fleet, ask)
    return {
      subject: id,
      changes: [put('members', { ...value, ...change, held: null, updated_at: when.now }, version)],
      events: [
        aboutTeam(team, 'member_changed', when, { member: id, handle: value.handle, fields: Object.keys(change) }),
      ],
    }
  })
  return current(fleet, 'members', id)
}

/**
 * A member leaves. Its session is stopped and its work is kept; the reactor returns its mail to the senders. Its name
 * can be used again, for a new member.
 */
export async function dismissMember(fleet: Fleet, ask: Ask, id: string, reason?: string): Promise<Stored<Member>> {
  await oncePerKey(fleet, ask, async () => {
    const { value: member, version } = await current(fleet, 'members', id)
    if (member.dismissed_at) return { subject: id, changes: [] }
    const team = await current(fleet, 'teams', member.team_id)
    requireAnother(team.value, member)
    const when = by(fleet, ask)
    const roster = team.value.roster.filter(({ member_id }) => member_id !== id)
    const mission = member.mission_id ? await fleet.store.get('missions', member.mission_id) : undefined
    const ended = mission && !isOver(mission.value) ? life.requestCancel(mission.value, when, reason) : undefined
    return {
      subject: id,
      changes: [
        put('members', { ...member, dismissed_at: when.now, updated_at: when.now, held: null }, version),
        put('teams', { ...team.value, roster, updated_at: when.now }, team.version),
        ...(ended ? [put('missions', ended.mission, mission!.version)] : []),
      ],
      events: [
        aboutTeam(team.value, 'member_dismissed', when, { member: id, handle: member.handle, reason: reason ?? null }),
        ...(ended?.events ?? []),
      ],
    }
  })
  return current(fleet, 'members', id)
}

/** Without a person, nobody would hear of what the agents cannot settle. */
function requireAnother({ name, roster }: Team, { id, handle, person }: Member): void {
  if (person === null || roster.some(({ is_agent, member_id }) => !is_agent && member_id !== id)) return
  throw new NotAllowed(`${handle} is the only person in the team ${name}, and stays in it.`, {
    try: `fleet team delete ${name}`,
  })
}

const isOver = ({ status, cancel_requested }: Mission): boolean =>
  cancel_requested || status === 'cancelled' || status === 'done'
