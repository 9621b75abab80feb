import { NotAllowed } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { Mission, MissionSettings } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import * as life from '../../domain/rules/life.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { current, put } from '../records.ts'
import { isScriptAfter } from './agents.ts'
import { keepTold } from './images.ts'
import { shown, type Wish } from './missions.ts'
import { requireStartable } from './requirements.ts'

/**
 * Starts a second mission with the work and, where the client can, a copy of the conversation of a first one, which
 * stays as it is. `fresh` leaves out the conversation and gives the report of the first one instead.
 */
export async function forkMission(
  fleet: Fleet,
  ask: Ask,
  id: string,
  wish: Wish,
  fresh: boolean,
): Promise<Stored<Mission>> {
  const instructions = await keepTold(fleet, wish.message, wish.images)
  const forked = await oncePerKey(fleet, ask, async () => {
    const { value: origin } = await current(fleet, 'missions', id)
    const session = await finished(fleet, origin)
    const agent = wish.override?.agent ?? session.agent
    const script = isScriptAfter(fleet, ask, origin, { agent, text: false })
    const conversation = !fresh && remembers(fleet, session, agent)
    const when = by(fleet, ask)
    const draft = Mission.parse({
      ...MissionSettings.parse(origin),
      ...wish.override,
      agent,
      depends_on: [],
      id: newId(),
      project_id: origin.project_id,
      prompt: origin.prompt,
      variables: origin.variables,
      script,
      fork_of: { mission_id: origin.id, session_id: session.id, conversation },
      status: 'draft',
      created_at: when.now,
      updated_at: when.now,
    })
    const { value: project } = await current(fleet, 'projects', origin.project_id)
    await requireStartable(fleet, project, [
      { called: draft.title, settings: shown(MissionSettings.parse(draft), wish) },
    ])
    const created = life.about(draft, 'mission_created', when, {
      data: { title: draft.title, fork_of: origin.id, was: null, status: 'draft' },
    })
    const queued = life.forked(draft, instructions, when)
    return {
      subject: draft.id,
      changes: [put('missions', queued.mission, 'absent')],
      events: [created, ...queued.events],
    }
  })
  return current(fleet, 'missions', forked)
}

async function finished(fleet: Fleet, origin: Mission): Promise<Session> {
  const session = origin.session_id ? (await fleet.store.get('sessions', origin.session_id))?.value : undefined
  if (!session) throw new NotAllowed(`Mission ${origin.id} has not run, so there is nothing to fork.`)
  if (session.status !== 'ended' || !session.end_commit) {
    throw new NotAllowed(`Mission ${origin.id} is still at work; its work can be forked once the session has ended.`, {
      try: `fleet cancel ${origin.id}, or wait`,
    })
  }
  return session
}

/** Refuses a fork that cannot have a copy of the conversation. A person can then choose to do without. */
function remembers(fleet: Fleet, session: Session, agent: string): true {
  const { can, title } = fleet.agents.named(agent)
  const why =
    agent !== session.agent
      ? `${title} cannot continue a conversation of another agent.`
      : !can.fork
        ? `${title} cannot copy a conversation.`
        : session.conversation === null
          ? 'The session left no conversation to copy.'
          : undefined
  if (why) throw new NotAllowed(why, { try: 'Add --fresh to begin a new conversation with a written hand-over.' })
  return true
}
