import { join } from 'node:path'
import { NotAllowed, WrongState } from '../../domain/errors.ts'
import type { Mission, TakenOver } from '../../domain/records/mission.ts'
import { conversationOf, type Session } from '../../domain/records/session.ts'
import type { Told } from '../../domain/records/told.ts'
import * as takeover from '../../domain/rules/takeover.ts'
import { pushGuardEnvironment } from '../../git/index.ts'
import { sessionToken } from '../../platform/tokens.ts'
import { isAlive } from '../../runner/processes.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, changeMission } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { withImages } from '../missions/images.ts'
import { sideProcessesIn } from '../previews/processes.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current } from '../records.ts'
import { markOf } from '../sessions/environment.ts'
import { isHere } from '../sessions/record.ts'
import { requireNoTerminal } from '../teams/sessions.ts'

type Terminal = TakenOver['terminal']

/** Commits the wish to take over. Of two people who ask at once, one gets it. */
export const takeOverMission = (
  fleet: Fleet,
  ask: Ask,
  id: string,
  terminal: Terminal,
  held: { page?: boolean } = {},
): Promise<Stored<Mission>> =>
  changeMission(fleet, id, ask, async (mission, by) => {
    const step = takeover.takeOver(mission, { ...terminal, host: fleet.home.host }, by, held)
    await requireConversation(fleet, mission)
    return step
  })

async function requireConversation(fleet: Fleet, mission: Mission): Promise<void> {
  const { value: session } = await current(fleet, 'sessions', mission.session_id!)
  const { title, interactive } = fleet.agents.ofSession(session.agent)
  const instead = { try: `fleet mission resume ${mission.id} --message "…"; its work is in ${session.worktree}` }
  requireNoTerminal(session)
  if (!interactive) throw new NotAllowed(`${title} has no conversation that a person could continue.`, instead)
  if (session.status === 'ended' && !conversationOf(session))
    throw new NotAllowed(`The last session of mission ${mission.id} left no conversation to continue.`, instead)
  if (!session.worktree)
    throw new NotAllowed(`Mission ${mission.id} works in a folder without worktrees.`, {
      try: `Its agent can be opened there by hand: ${conversationOf(session) ?? 'it left no conversation'}`,
    })
  // A landed mission goes on from the base branch, in a new worktree at the path where its preview runs.
  const shown = mission.result === 'landed' ? await sideProcessesIn(fleet, session) : []
  if (shown[0])
    throw new NotAllowed(`Its ${shown[0].kind} runs in the worktree of what has landed.`, {
      try: `fleet preview stop ${mission.id}`,
    })
}

/** Commits the wish to hand it back: by the terminal that has it, or by anyone once that terminal is gone. */
export async function handBackMission(
  fleet: Fleet,
  ask: Ask,
  id: string,
  wish: { next: takeover.Then; message?: string; terminal?: Terminal },
): Promise<Stored<Mission>> {
  return changeMission(fleet, id, ask, async (mission, by) => {
    const { terminal, page, message: unheard } = takeover.requireTaken(mission)
    // Whoever may take it over in a page may hand it back there too, by the server that holds it.
    const isHeldHere = page && terminal.pid === process.pid && isAlive(terminal)
    const isTheirs = isHeldHere || (wish.terminal?.pid === terminal.pid && wish.terminal.started === terminal.started)
    if (!isTheirs && !isHere(fleet, terminal))
      throw new NotAllowed(`Mission ${id} is open in a terminal on host ${terminal.host}.`, {
        try: `Leave the client there; if that machine is gone for good: fleet host claim ${terminal.host}`,
      })
    if (!isTheirs && page && isAlive(terminal))
      throw new NotAllowed(`Mission ${id} is open in the page of a browser.`, { try: 'Hand it back there.' })
    if (!isTheirs && isAlive(terminal))
      throw new NotAllowed(`Mission ${id} is still open in a terminal: process ${terminal.pid}.`, {
        try: 'Leave the client there, or end that process.',
      })
    return takeover.handBack(mission, wish.next, await wordsFor(fleet, wish, unheard), by)
  })
}

const GO_ON =
  'A person has taken part in this conversation and worked in the worktree, and hands both back to you. Look at what changed, and go on with your mission.'

/** `unheard`: what the agent had not heard when it was stopped. */
async function wordsFor(
  fleet: Fleet,
  { next, message }: { next: takeover.Then; message?: string },
  unheard: Told | null,
): Promise<Told | null> {
  if (next !== 'resume') return null
  const before = unheard && (await fleet.blobs.read(unheard))
  const words = await fleet.blobs.keep([GO_ON, before, message].filter(Boolean).join('\n\n'))
  return withImages(words, unheard?.images ?? [])
}

export interface Opened {
  argv: readonly string[]
  cwd: string
  /** To be added to the environment of the terminal. */
  variables: Record<string, string>
}

/** How the terminal that has taken a mission over opens its conversation. */
export async function openConversation(fleet: Fleet, mission: Mission, url: string | null): Promise<Opened> {
  const session = await takenSession(fleet, mission)
  const project = (await current(fleet, 'projects', mission.project_id)).value
  const agent = fleet.agents.ofSession(session.agent)
  const { argv, env } = agent.interactive!({
    conversation: session.resumes!,
    model: session.model,
    preset: session.tool_preset ?? 'full',
  })
  const guard = project.allow_push ? {} : await pushGuardEnvironment(await repositoryOf(project))
  return {
    argv,
    cwd: join(session.worktree!, mission.subdirectory),
    variables: {
      ...env,
      ...guard,
      // Marks processes that are started there as part of the session, and lets the agent's `fleet` commands act for
      // that session only.
      FLEET_SESSION: markOf(fleet, session.id),
      FLEET_TOKEN: await sessionToken(fleet.keys, session),
      ...(url && { FLEET_URL: url }),
      FLEET_TASK_ID: mission.id,
      FLEET_TASK_DIR: fleet.home.task(mission.id),
    },
  }
}

async function takenSession(fleet: Fleet, mission: Mission): Promise<Session> {
  const { session_id: id, next } = takeover.requireTaken(mission)
  if (next) throw new NotAllowed(`Mission ${mission.id} is being handed back.`, { try: `fleet show ${mission.id}` })
  const session = id ? (await current(fleet, 'sessions', id)).value : undefined
  if (session?.status !== 'running')
    throw new WrongState('The take-over of mission', mission.id, session?.status ?? 'not ready', ['running'])
  return session
}
