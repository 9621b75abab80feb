import { newId } from '../../domain/ids.ts'
import { type Author, Post } from '../../domain/records/board.ts'
import type { Member, Team } from '../../domain/records/team.ts'
import { writesAs } from '../../domain/rules/mail.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, current, put } from '../records.ts'
import { nextOrder } from '../teams/order.ts'
import { aboutTeam, requireTeam } from '../teams/teams.ts'

export const authorOf = (member: Member): Author => ({
  member_id: member.id,
  handle: member.handle,
  role: writesAs(member),
})

export interface NewPost extends Pick<Post, 'swarm_id' | 'message_type' | 'priority'> {
  payload: string | Record<string, unknown>
  target: Member | null
}

export async function postToBoard(fleet: Fleet, ask: Ask, team: Team, from: Member, wanted: NewPost): Promise<Post> {
  const { payload, target, ...rest } = wanted
  const isObject = typeof payload !== 'string'
  const text = await fleet.blobs.keep(isObject ? JSON.stringify(payload) : payload)
  const id = await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'teams', team.id)
    requireTeam(value)
    const when = by(fleet, ask)
    const post = Post.parse({
      ...{ ...rest, id: newId(), team_id: team.id, project_id: team.project_id, from: authorOf(from) },
      ...{ payload: text, is_object: isObject, target: target && { member_id: target.id, handle: target.handle } },
      // Nobody has to be told what they wrote themselves.
      ...{ read_by: [from.id], order: nextOrder(when.now), created_at: when.now },
    })
    return {
      subject: post.id,
      changes: [put('posts', post, 'absent')],
      checks: [{ collection: 'teams', id: team.id, expects: version }],
      events: [
        aboutTeam(team, 'post_written', when, {
          ...{ post: post.id, from: from.handle, type: post.message_type, swarm: post.swarm_id },
          ...{ target: post.target?.handle ?? null, priority: post.priority },
        }),
      ],
    }
  })
  return (await current(fleet, 'posts', id)).value
}

export interface Wanted {
  swarmId: string | null
  archived: boolean
  /** Leaves out what this member has read. */
  unreadBy?: string
  fits: (post: Post) => boolean
  limit: number
  cursor?: string
}

/** One call looks at this many pages at most. Then a page may be short, and its cursor continues. */
const MOST_PAGES = 40

/** A board, newest first. */
export async function readBoard(
  fleet: Fleet,
  { id }: Team,
  { swarmId, archived, unreadBy, fits, limit, cursor: from }: Wanted,
): Promise<{ posts: Post[]; cursor?: string }> {
  const posts: Post[] = []
  let cursor = from
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    // Never more than are missing, so that the cursor is right after the last one.
    const page = await fleet.store.find('posts', {
      ...{ index: archived ? 'ever' : 'board', equals: [id, swarmId ?? ''], newestFirst: true },
      ...{ limit: limit - posts.length, cursor },
    })
    const isUnread = ({ read_by }: Post) => unreadBy === undefined || !read_by.includes(unreadBy)
    posts.push(...page.items.map(({ value }) => value).filter(post => isUnread(post) && fits(post)))
    cursor = page.cursor
    if (cursor === undefined || posts.length >= limit) break
  }
  return { posts, ...(cursor !== undefined && { cursor }) }
}

/** How many posts concern a member that it has not read; at most this many are counted. */
export async function postsFor(fleet: Fleet, memberId: string, most = 100): Promise<number> {
  return (await fleet.store.find('posts', { index: 'target', equals: [memberId], limit: most })).items.length
}

export async function markRead(fleet: Fleet, ids: readonly string[], reader: Member, actor: string): Promise<number> {
  let marked = 0
  for (const id of ids)
    marked += await retryOnConflict(async () => {
      const { value, version } = await current(fleet, 'posts', id)
      if (value.read_by.includes(reader.id)) return 0
      const when = { actor, now: fleet.now() }
      await fleet.commit('commit.wish', {
        changes: [put('posts', { ...value, read_by: [...value.read_by, reader.id] }, version)],
        events: [aboutTeam(teamOf(value), 'post_read', when, { post: id, member: reader.id })],
      })
      return 1
    })
  return marked
}

const teamOf = ({ team_id, project_id }: Post) => ({ id: team_id, project_id })

async function archive(fleet: Fleet, id: string, actor: string): Promise<boolean> {
  return retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'posts', id)
    if (value.archived_at) return false
    const when = { actor, now: fleet.now() }
    await fleet.commit('commit.wish', {
      changes: [put('posts', { ...value, archived_at: when.now }, version)],
      events: [aboutTeam(teamOf(value), 'post_archived', when, { post: id, swarm: value.swarm_id })],
    })
    return true
  })
}

export async function archivePosts(fleet: Fleet, ids: readonly string[], actor: string): Promise<number> {
  let archived = 0
  for (const id of ids) if (await archive(fleet, id, actor)) archived++
  return archived
}

/** Archives what is at least as old as a time, the oldest first. */
export async function archiveOlder(
  fleet: Fleet,
  { id }: Team,
  { swarmId, before, actor }: { swarmId: string | null; before: string; actor: string },
): Promise<number> {
  const old: string[] = []
  for await (const { value } of all(fleet, 'posts', 'board', [id, swarmId ?? ''])) {
    if (value.created_at > before) break
    old.push(value.id)
  }
  return archivePosts(fleet, old, actor)
}
