import type { Event } from '../../../domain/records/event.ts'
import { chatIdOf } from './chats.ts'
import type { Told } from './events.ts'
import { type Member, type Team, uidOf } from './who.ts'
import {
  type Checkpoint,
  checkpointOf,
  type Letter,
  messageOf,
  type Post,
  postOf,
  type Swarm,
  swarmOf,
  workerOf,
} from './words.ts'

/** Asks one of our operations as the reader of the events. Undefined: the reader may not see it, or it is gone. */
export type Look = <T>(operation: string, input: object) => Promise<T | undefined>

type Tell = (event: Event, team: Team, look: Look) => Promise<Told | undefined>

const POSTS = 50

const TELL: Partial<Record<Event['kind'], Tell>> = {
  mail_sent: async ({ data }, team, look) => {
    const letter = await look<Letter & { to: string[] }>('get_mail', { mail_id: data.mail })
    if (!letter) return undefined
    const uids = [letter.from.member_id, ...letter.deliveries.map(({ member_id }) => member_id)].map(
      id => team.members.find(each => each.id === id) ?? { id: id ?? 'fleet', person: null },
    )
    const isToAll = letter.to.some(to => to.startsWith('@'))
    const chat = isToAll || uids.length !== 2 ? `team.${team.id}` : chatIdOf(...uids.map(uidOf))
    const message = messageOf(letter, chat, team)
    return { kind: isToAll ? 'broadcast' : 'new_message', data: { message, handle: letter.from.handle } }
  },
  post_written: async ({ data }, team, look) => {
    const board = { team_id: team.id, limit: POSTS, archived: true, ...(data.swarm ? { swarm_id: data.swarm } : {}) }
    const post = (await look<{ posts: Post[] }>('blackboard_read', board))?.posts.find(({ id }) => id === data.post)
    return post && { kind: 'blackboard_message', data: { swarmId: post.swarm_id, message: postOf(post, '') } }
  },
  checkpoint_created: async ({ data }, _, look) => {
    const made = await look<Checkpoint>('get_checkpoint', { checkpoint_id: data.checkpoint })
    return made && { kind: 'checkpoint_created', data: { checkpoint: checkpointOf(made) } }
  },
  swarm_created: async ({ data }, team, look) => {
    const found = await look<{ swarms: Swarm[] }>('swarm_list', { team_id: team.id, swarm_id: data.swarm })
    const [swarm] = found?.swarms ?? []
    return swarm && { kind: 'swarm_created', data: { swarm: swarmOf(swarm) } }
  },
  swarm_killed: async ({ data }) => ({ kind: 'swarm_killed', data: { swarmId: data.swarm, deleted: false } }),
  member_added: async ({ data }, team, look) => {
    const member = await look<Member>('get_member', { team_id: team.id, member: data.member })
    if (!member || member.person !== null) return undefined
    return { kind: 'worker_spawned', data: { worker: workerOf(member, team, null) } }
  },
  member_health: async ({ data }) =>
    data.state === data.was
      ? undefined
      : { kind: 'worker_health', data: { handle: data.handle, health: data.state, reason: data.reason } },
  member_restarted: async ({ data }) => ({
    kind: 'worker_restarted',
    data: { handle: data.handle, restartCount: data.restarts, reason: data.reason },
  }),
  member_dismissed: async ({ data }) => ({ kind: 'worker_dismissed', data: { handle: data.handle } }),
}

export const isOfTeam = ({ kind }: Pick<Event, 'kind'>): boolean => kind in TELL

/** What happened in a team, in their words. Whoever may not see the team is told nothing. */
export async function teamEvent(event: Event, look: Look): Promise<Told | undefined> {
  const team = await look<Team>('get_team', { team_id: event.data.team })
  return team && TELL[event.kind]?.(event, team, look)
}
