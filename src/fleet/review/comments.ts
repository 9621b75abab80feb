import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { Comment, isToSend, MAX_COMMENT_CHARS, type Mission } from '../../domain/records/mission.ts'
import { sentBack } from '../../domain/rules/comments.ts'
import * as life from '../../domain/rules/life.ts'
import { clipped } from '../../domain/text.ts'
import { changedAmong, changes, linesOf, type Repository } from '../../git/index.ts'
import { MAX_COMMIT_ITEMS, type Stored } from '../../store/index.ts'
import { type Ask, by, changeMission, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { type Shown, shownOf } from '../landing/candidates.ts'
import { isScriptAfter } from '../missions/agents.ts'
import { requireStored, withImages } from '../missions/images.ts'
import { checkedSettings, projectOf, readiness, shown, type Wish } from '../missions/missions.ts'
import { requireHeld } from '../missions/requirements.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current, put } from '../records.ts'

const QUOTE_CHARS = 4000
/** Beside the comments, a commit has the mission, the message, its event and a receipt. */
const BESIDE_COMMENTS = 4

export type CommentFields = Pick<Comment, 'body' | 'path' | 'line' | 'start_line' | 'side'>

export async function addComment(fleet: Fleet, ask: Ask, shown: Mission, fields: CommentFields): Promise<Comment> {
  const quote = await quoteOf(fleet, shown, fields)
  const id = await oncePerKey(fleet, ask, async () => {
    const { value: mission, version } = await current(fleet, 'missions', shown.id)
    if (mission.deleting) throw new NotAllowed(`Mission ${mission.id} is being deleted.`)
    const when = by(fleet, ask)
    const comment = newComment(shown, when, { ...fields, quote })
    return {
      subject: comment.id,
      changes: [put('comments', comment, 'absent')],
      checks: [{ collection: 'missions', id: mission.id, expects: version }],
      events: [life.about(mission, 'commented', when, { data: { comment: comment.id } })],
    }
  })
  return (await current(fleet, 'comments', id)).value
}

const newComment = (mission: Mission, when: life.By, fields: Partial<Comment>): Comment =>
  Comment.parse({
    ...fields,
    id: newId(),
    mission_id: mission.id,
    project_id: mission.project_id,
    session_id: mission.session_id,
    candidate: mission.candidate?.commit ?? null,
    author: when.actor,
    created_at: when.now,
  })

export async function editComment(
  fleet: Fleet,
  ask: Ask,
  id: string,
  fields: Partial<CommentFields>,
): Promise<Comment> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await requireUnsent(fleet, id)
    const { value: mission } = await current(fleet, 'missions', value.mission_id)
    const changed = { ...value, ...fields }
    const quote = await quoteOf(fleet, mission, changed)
    return {
      subject: id,
      changes: [put('comments', { ...changed, quote }, version)],
      events: [life.about(mission, 'comment_changed', by(fleet, ask), { data: { comment: id } })],
    }
  })
  return (await current(fleet, 'comments', id)).value
}

export async function deleteComment(fleet: Fleet, ask: Ask, id: string): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await requireUnsent(fleet, id)
    const { value: mission } = await current(fleet, 'missions', value.mission_id)
    return {
      subject: id,
      changes: [{ remove: 'comments', id, expects: version }],
      events: [life.about(mission, 'comment_deleted', by(fleet, ask), { data: { comment: id } })],
    }
  })
}

/** A comment that was sent to the agent cannot be changed or taken back. */
async function requireUnsent(fleet: Fleet, id: string): Promise<Stored<Comment>> {
  const found = await current(fleet, 'comments', id)
  if (found.value.applied) throw new NotAllowed(`The suggestion of comment ${id} was applied, so it cannot be changed.`)
  if (!found.value.sent_at) return found
  throw new NotAllowed(`Comment ${id} was sent to the agent at ${found.value.sent_at}, so it cannot be changed.`, {
    try: `fleet mission comment ${found.value.mission_id} "…"`,
    facts: { sent_at: found.value.sent_at },
  })
}

/**
 * Sends the agent back to its work with all unsent comments. The commit that queues the mission also marks them as
 * sent, so each is sent once. The message becomes a comment too, which is marked as sent from the start.
 */
export async function sendBack(fleet: Fleet, ask: Ask, id: string, wish: Wish): Promise<Stored<Mission>> {
  const project = await projectOf(fleet, id)
  const settings = await checkedSettings(fleet, wish.override ?? {}, project)
  return changeMission(fleet, id, ask, async (mission, when) => {
    const script = isScriptAfter(fleet, ask, mission, { agent: settings.agent, text: false })
    const { ready, checks } = await readiness(fleet, mission)
    const room = MAX_COMMIT_ITEMS - BESIDE_COMMENTS - checks.length
    const unsent = await unsentOf(fleet, id, room)
    const message = wish.message?.trim()
    const { images = [] } = wish
    await requireStored(fleet, images)
    if (images.length) requireHeld(fleet, shown({ ...mission, ...settings }, wish), project)
    if (!unsent.length && !message && !images.length)
      throw new InvalidInput('message', 'is missing, and every comment was already sent to the agent', {
        try: `fleet mission comment ${id} "…"`,
      })
    const { text, told } = sentBack(
      unsent.map(({ value }) => value),
      message,
    )
    const said = message && { body: clipped(message, MAX_COMMENT_CHARS), sent_at: when.now }
    const decide = mission.status === 'done' ? life.reopen : life.resume
    return {
      ...decide({ ...mission, ...settings, script }, ready, withImages(await fleet.blobs.keep(text), images), when, {
        data: { comments: told.length },
        cause: message,
      }),
      changes: [
        ...(said ? [put('comments', newComment(mission, when, said), 'absent')] : []),
        ...unsent
          .slice(0, told.length)
          .map(({ value, version }) => put('comments', { ...value, sent_at: when.now }, version)),
      ],
      checks,
    }
  })
}

async function unsentOf(fleet: Fleet, missionId: string, limit: number): Promise<Stored<Comment>[]> {
  const { items } = await fleet.store.find('comments', { index: 'unsent', equals: [missionId], limit })
  const now = await Promise.all(items.map(({ value }) => fleet.store.get('comments', value.id)))
  return now.filter(found => found !== undefined).filter(({ value }) => isToSend(value))
}

/** The lines a comment is about, as the person sees them now. The work may have moved on when the agent reads it. */
async function quoteOf(
  fleet: Fleet,
  mission: Mission,
  { path, line, start_line, side }: CommentFields,
): Promise<string | null> {
  if (start_line && (!line || start_line > line))
    throw new InvalidInput('start_line', 'must be a line before "line", which is the last line of the range')
  const project = path ? (await fleet.store.get('projects', mission.project_id))?.value : undefined
  const shown = project && (await shownOf(project, mission))
  if (!project || !shown) return null
  const repository = await repositoryOf(project)
  if (!(await isChanged(repository, shown, path!)))
    throw new InvalidInput('path', `${path} is not in the change`, { try: `fleet diff ${mission.id} --stat` })
  if (!line) return null
  const commit = side === 'old' ? shown.from : shown.to
  const quote = await linesOf(repository, commit, path!, start_line ?? line, line)
  return quote === undefined ? null : clipped(quote, QUOTE_CHARS)
}

async function isChanged(repository: Repository, { from, to }: Shown, path: string): Promise<boolean> {
  const { files, filesOmitted } = await changes(repository, from, to)
  if (files.some(file => file.path === path || file.from === path)) return true
  return filesOmitted > 0 && (await changedAmong(repository, from, to, [path])).includes(path)
}
