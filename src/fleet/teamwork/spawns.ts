import { Forbidden, NotAllowed, NotFound, Refusal } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type Mission, MissionSettings } from '../../domain/records/mission.ts'
import { Spawn } from '../../domain/records/spawn.ts'
import type { Member, Team } from '../../domain/records/team.ts'
import { type By, waitsForMail } from '../../domain/rules/life.ts'
import { quoted } from '../../domain/rules/mail-prompt.ts'
import * as rules from '../../domain/rules/spawns.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import type { Batch } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { requireCodingAgent, runsScripts } from '../missions/agents.ts'
import { all, current, derivedId, put } from '../records.ts'
import { mailing, sendMail } from '../teams/mail.ts'
import { addMember, freeHandle } from '../teams/members.ts'
import { nextOrder } from '../teams/order.ts'
import { aboutTeam, membersOf, requireTeam } from '../teams/teams.ts'
import { authorOf } from './board.ts'
import { swarmsOf } from './swarms.ts'

export const openSpawns = async (fleet: Fleet, { id }: Pick<Team, 'id'>): Promise<Spawn[]> =>
  (await Array.fromAsync(all(fleet, 'spawns', 'open', [id]))).map(({ value }) => value)

export interface NewSpawn
  extends Pick<Spawn, 'handle' | 'role' | 'agent' | 'model' | 'subdirectory' | 'swarm_id' | 'priority' | 'depends_on'> {
  charter: string
  task: string
  /** Nobody has to grant it. */
  granted: boolean
}

/** Writes down that somebody asks for another member. Unless it is granted, those who may grant it are told. */
export async function requestSpawn(
  fleet: Fleet,
  ask: Ask,
  teamId: string,
  from: Member,
  wanted: NewSpawn,
): Promise<Spawn> {
  const { granted, charter, task, ...rest } = wanted
  const isAgent = from.person === null
  const { maxSpawnDepth } = fleet.settings
  if (isAgent && from.depth >= maxSpawnDepth)
    throw new NotAllowed(`Members may be spawned at most ${maxSpawnDepth} deep, and this one would be deeper.`, {
      try: 'Do it yourself, or ask a person.',
    })
  const [charterText, taskText] = await Promise.all([charter, task].map(text => (text ? fleet.blobs.keep(text) : null)))
  const id = await oncePerKey(fleet, ask, async () => {
    const { value: team, version } = await current(fleet, 'teams', teamId)
    requireTeam(team)
    requireFree(team, wanted.handle)
    await requireOwn(fleet, team, wanted.depends_on)
    const open = await Array.fromAsync(all(fleet, 'spawns', 'requested_by', [from.id]))
    if (isAgent && open.length >= rules.MOST_REQUESTS)
      throw new NotAllowed(`${from.handle} has ${rules.MOST_REQUESTS} open requests already.`, {
        try: 'Cancel one with spawn_cancel.',
      })
    const when = by(fleet, ask)
    const spawn = Spawn.parse({
      ...{ ...rest, id: newId(), team_id: team.id, project_id: team.project_id, from: authorOf(from) },
      ...{ mission_id: from.mission_id, actor: ask.actor, charter: charterText, task: taskText },
      ...{ state: granted ? 'waiting' : 'requested', decided_by: granted ? ask.actor : null },
      ...{ order: nextOrder(when.now), created_at: when.now, updated_at: when.now },
    })
    const told = granted ? { changes: [] } : await askToGrant(fleet, team, from, spawn, task, when)
    return {
      subject: spawn.id,
      changes: [...told.changes, put('spawns', spawn, 'absent')],
      checks: told.checks ?? [{ collection: 'teams', id: team.id, expects: version }],
      events: [
        ...(told.events ?? []),
        aboutTeam(team, 'spawn_requested', when, { spawn: spawn.id, from: from.handle, role: spawn.role }),
      ],
    }
  })
  await settleSpawns(fleet, teamId)
  return (await current(fleet, 'spawns', id)).value
}

function requireFree({ name, roster }: Team, handle: string | null): void {
  const taken = roster.find(each => each.handle.toLowerCase() === handle?.toLowerCase())
  if (taken) throw new NotAllowed(`The team ${name} already has a member called ${taken.handle}.`)
}

async function requireOwn(fleet: Fleet, { id, name }: Team, spawns: readonly string[]): Promise<void> {
  for (const each of spawns)
    if ((await fleet.store.get('spawns', each))?.value.team_id !== id)
      throw new NotFound(`request of the team ${name}`, each, { try: 'spawn_status shows all.' })
}

/** Mail to the leads; without one, to the people of the team. */
async function askToGrant(
  fleet: Fleet,
  team: Team,
  from: Member,
  spawn: Spawn,
  task: string,
  when: By,
): Promise<Batch> {
  const others = (await membersOf(fleet, team)).filter(({ id }) => id !== from.id)
  const leads = others.filter(({ person, role }) => person === null && role === 'team-lead')
  const to = (leads.length ? leads : others.filter(({ person }) => person !== null)).map(({ handle }) => handle)
  if (!to.length) return { changes: [] }
  const how = leads.length
    ? `Grant it with spawn_grant ${spawn.id}, or refuse it with spawn_refuse.`
    : `Grant or refuse it under Requests on the page of the team, or with fleet team grant ${spawn.id}.`
  // The blank line ends the quote, also where it is shown as Markdown.
  const text = `${from.handle} asks for another member, a ${spawn.role}, with this task:\n${quoted(task)}\n\n${how}`
  const letter = { needs: 'none', priority: spawn.priority, deadline: null, reply_to: null, wake: true } as const
  const subject = `${from.handle} asks for a ${spawn.role}`
  const wanted = {
    ...letter,
    to,
    subject,
    body: await fleet.blobs.keep(text),
    id: derivedId('mail', 'spawn', spawn.id),
  }
  return (await mailing(fleet, team.id, 'fleet', wanted, when)).batch
}

/** A lead or a person grants or refuses a request, or it is cancelled. Whoever asked is told. */
export async function decideSpawn(
  fleet: Fleet,
  ask: Ask,
  id: string,
  decision: rules.Decision,
  reason: string | null,
): Promise<Spawn> {
  const teamId = (await current(fleet, 'spawns', id)).value.team_id
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'spawns', id)
    const { value: team } = await current(fleet, 'teams', value.team_id)
    const when = by(fleet, ask)
    const next = rules.decided(value, decision, { by: ask.actor, reason, now: when.now })
    const told = decision === 'refused' ? await answerTo(fleet, team, next, when) : { changes: [] }
    return {
      subject: id,
      ...told,
      changes: [...told.changes, put('spawns', next, version)],
      events: [
        ...(told.events ?? []),
        aboutTeam(team, 'spawn_decided', when, {
          ...{ spawn: id, from: value.from.handle, decision: decision === 'waiting' ? 'granted' : decision },
        }),
      ],
    }
  })
  await settleSpawns(fleet, teamId)
  return (await current(fleet, 'spawns', id)).value
}

/** What came of a request, for whoever made it, if they are still there. */
async function answerTo(fleet: Fleet, team: Team, spawn: Spawn, when: By): Promise<Batch> {
  const { id, from, state, reason, handle } = spawn
  const isThere = team.ended_at === null && team.roster.some(({ member_id }) => member_id === from.member_id)
  if (!isThere) return { changes: [] }
  const text =
    state === 'spawned'
      ? `${handle} was added, as you asked, and has its task.`
      : `Your request ${id} for a ${spawn.role} was ${state}${reason ? `: ${reason}` : '.'}`
  const letter = { needs: 'none', priority: 'normal', deadline: null, reply_to: null, wake: true } as const
  const mail = { subject: `Request for a member ${state}`, body: await fleet.blobs.keep(text) }
  const wanted = { ...letter, ...mail, to: [from.handle], id: derivedId('mail', 'spawn', id, state) }
  return (await mailing(fleet, team.id, 'fleet', wanted, when)).batch
}

/** Adds the members for which there is room, in order, and says what the others wait for. Doing it again is free. */
export async function settleSpawns(fleet: Fleet, teamId: string): Promise<void> {
  // Each pass ends because nothing changed, or because a request was settled.
  for (let again = true; again; ) {
    again = false
    const { value: team } = await current(fleet, 'teams', teamId)
    const open = await openSpawns(fleet, team)
    if (!open.length) return
    const known = new Map<string, rules.Progress>()
    for (const id of new Set(open.flatMap(({ depends_on }) => depends_on))) known.set(id, await progressOf(fleet, id))
    const swarms = await swarmsOf(fleet, team)
    const moves = rules.movesOf(open, { team, swarms, progress: id => known.get(id) ?? 'never' })
    for (const move of moves) {
      if (move.kind === 'wait') await note(fleet, move.spawn, { waits_for: clipped(move.text, MAX_REASON_CHARS) })
      else if (move.kind === 'end') await settle(fleet, move.spawn, { state: move.state, reason: move.reason })
      // Somebody else may have taken the place meanwhile: then what is behind it is looked at again.
      else again = (await add(fleet, team, move.spawn)) || again
    }
  }
}

async function progressOf(fleet: Fleet, id: string): Promise<rules.Progress> {
  const spawn = (await fleet.store.get('spawns', id))?.value
  if (!spawn || spawn.state === 'refused' || spawn.state === 'cancelled') return 'never'
  const member = spawn.member_id ? (await fleet.store.get('members', spawn.member_id))?.value : undefined
  if (!member) return 'open'
  if (member.dismissed_at) return 'done'
  const mission = (await fleet.store.get('missions', member.mission_id!))?.value
  const { items } = await fleet.store.find('deliveries', { index: 'queued', equals: [member.id], limit: 1 })
  return mission && waitsForMail(mission) && member.generation > 0 && !items.length ? 'done' : 'working'
}

/** What the new member may do: no more than the agent who asked for it. A person decides with the defaults. */
async function settingsFor(fleet: Fleet, { mission_id, agent, model, subdirectory }: Spawn): Promise<NewSettings> {
  const own = { ...(model !== null && { model }), ...(subdirectory && { subdirectory }) }
  if (!mission_id) return { ...own, ...(agent !== null && { agent }) }
  const { value: parent } = await current(fleet, 'missions', mission_id)
  const { value: project } = await current(fleet, 'projects', parent.project_id)
  const isScript = parent.agent !== null && runsScripts(fleet, parent.agent)
  // A task is prose, which no agent runs as a script unless its author names that agent.
  const chosen = agent ?? (isScript ? null : parent.agent) ?? (await requireCodingAgent(fleet, project))
  return { ...limitsOf(parent), ...(chosen === parent.agent && { model: parent.model }), ...own, agent: chosen }
}
type NewSettings = Partial<MissionSettings>

const Limits = MissionSettings.pick({
  ...{ timeout_seconds: true, max_turns: true, max_budget_usd: true, tool_preset: true, allowed_tools: true },
  ...{ approvals: true, subdirectory: true, context_mode: true, priority: true },
})
const limitsOf = (parent: Mission): NewSettings => Limits.parse(parent)

/** Adds the member and gives it its task. Whether the request was settled. */
async function add(fleet: Fleet, { id: teamId }: Pick<Team, 'id'>, spawn: Spawn): Promise<boolean> {
  const { value: team } = await current(fleet, 'teams', teamId)
  const asker = (await fleet.store.get('members', spawn.from.member_id))?.value
  const key = `spawn ${spawn.id}`
  // For an agent that runs scripts, the only text it was given is its script.
  const text = spawn.charter ?? (runsScripts(fleet, spawn.agent) ? spawn.task : null)
  const charter = text ? await fleet.blobs.read(text) : ''
  try {
    const settings = await settingsFor(fleet, spawn)
    const wanted = {
      ...{ handle: spawn.handle ?? freeHandle(spawn.role, team), role: spawn.role, charter, labels: [], settings },
      ...{ swarm_id: spawn.swarm_id ?? undefined, depth: spawn.mission_id && asker ? asker.depth + 1 : 0 },
    }
    const { value: member } = await addMember(fleet, { operation: 'spawn', actor: spawn.actor, key }, teamId, wanted)
    if (spawn.task) {
      const letter = { subject: '', priority: spawn.priority, needs: 'none', deadline: null, reply_to: null } as const
      const body = await fleet.blobs.read(spawn.task)
      const sender = asker && !asker.dismissed_at ? asker : 'fleet'
      await sendMail(fleet, teamId, sender, { ...letter, to: [member.handle], body, wake: true, key }, spawn.actor)
    }
    await settle(fleet, spawn, { state: 'spawned', handle: member.handle, member_id: member.id })
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (isFull(error))
      return note(fleet, spawn, { waits_for: clipped(error.message, MAX_REASON_CHARS) }).then(() => false)
    await settle(fleet, spawn, { state: 'refused', reason: clipped(error.message, MAX_REASON_CHARS) })
    return true
  }
}

/** The last free place was taken in the meantime. */
const isFull = ({ facts }: Refusal): boolean => 'max_members' in facts || 'max_agents' in facts

/** Says what it waits for. */
async function note(fleet: Fleet, { id }: Spawn, { waits_for }: Pick<Spawn, 'waits_for'>): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'spawns', id)
    if (value.waits_for === waits_for || (value.state !== 'waiting' && value.state !== 'requested')) return
    const now = fleet.now()
    await fleet.commit('commit.spawn', {
      changes: [put('spawns', { ...value, waits_for, updated_at: now }, version)],
    })
  })
}

type Ending = Pick<Spawn, 'state'> & Partial<Pick<Spawn, 'reason' | 'handle' | 'member_id'>>

async function settle(fleet: Fleet, { id }: Spawn, ending: Ending): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'spawns', id)
    if (value.state !== 'waiting' && value.state !== 'requested') return
    const { value: team } = await current(fleet, 'teams', value.team_id)
    const when = { actor: 'fleet', now: fleet.now() }
    const next: Spawn = { ...value, ...ending, waits_for: null, updated_at: when.now }
    // Otherwise the answer to the request said it.
    const told = value.waits_for !== null ? await answerTo(fleet, team, next, when) : { changes: [] }
    await fleet.commit('commit.spawn', {
      ...told,
      changes: [...told.changes, put('spawns', next, version)],
      events: [
        ...(told.events ?? []),
        aboutTeam(team, 'spawn_ended', when, {
          ...{ spawn: id, from: value.from.handle, state: next.state, handle: next.handle, member: next.member_id },
        }),
      ],
    })
  })
}

/** Only whoever asked takes a request back, or somebody who could refuse it. */
export function requireAsker({ from }: Spawn, member: Member | undefined, decides: boolean): void {
  if (decides || from.member_id === member?.id) return
  throw new Forbidden(`${from.handle} made this request.`, { try: `Write to ${from.handle}.` })
}
