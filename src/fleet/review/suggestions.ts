import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import type { Comment, Mission } from '../../domain/records/mission.ts'
import { placeAfter, type Range, rangeOf, suggestionIn, withLines } from '../../domain/rules/suggestions.ts'
import { blobOf, commitTree, editedTree, fileEntry } from '../../git/index.ts'
import { byteName } from '../../git/names.ts'
import { type Change, MAX_COMMIT_ITEMS } from '../../store/index.ts'
import type { Ask } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { type Edited, editWork } from '../landing/person-edits.ts'
import { messageOf } from '../landing/trailers.ts'
import { all, current, put } from '../records.ts'

const MAX_BYTES = 4 * 1024 * 1024

/**
 * Puts the lines that a comment suggests into the file, as a commit on top of the candidate that was shown. Other
 * comments on that candidate move along with their lines.
 */
export async function applySuggestion(fleet: Fleet, ask: Ask, id: string, expected: string): Promise<Mission> {
  const { value: comment } = await current(fleet, 'comments', id)
  const { value: mission } = await current(fleet, 'missions', comment.mission_id)
  return editWork(fleet, ask, { mission, expected }, async start => {
    const { value: now, version } = await current(fleet, 'comments', id)
    const { range, lines } = requireApplicable(now, start)
    const commit = await commitOf(start, range, lines)
    const others = await movedComments(fleet, start, { except: id, range, count: lines.length, commit })
    return {
      commit,
      cause: `A suggestion for ${range.path} was applied.`,
      changes: [put('comments', { ...now, applied: commit }, version), ...others],
    }
  })
}

function requireApplicable(comment: Comment, { mission }: Edited): { range: Range; lines: string[] } {
  const range = rangeOf(comment)
  const lines = suggestionIn(comment.body)
  if (!lines) throw new InvalidInput('comment_id', 'this comment has no suggestion, or more than one')
  if (!range) throw new InvalidInput('comment_id', 'a suggestion must be on lines of the new file')
  if (comment.applied) throw new NotAllowed('This suggestion was applied already.')
  if (comment.candidate !== mission.candidate.commit)
    throw new NotAllowed('The work has changed since this suggestion was made, so its lines may have moved.', {
      try: 'Request changes, and the agent applies it',
    })
  return { range, lines }
}

async function commitOf(
  { mission, session, repository, by }: Edited,
  range: Range,
  lines: readonly string[],
): Promise<string> {
  const { path, first, last } = range
  const before = mission.candidate.commit
  const entry = await fileEntry(repository, before, path)
  const bytes = entry && (await blobOf(repository, entry.oid, MAX_BYTES))
  if (!entry || !bytes || bytes.includes(0))
    throw new NotAllowed(`${path} is not a text file of this work, so no suggestion can be applied to it.`)
  // Other bytes of the file stay as they are, whatever its encoding is.
  const text = withLines(
    bytes.toString('latin1'),
    range,
    lines.map(line => byteName(line)),
  )
  if (text === undefined) throw new NotAllowed(`${path} has no lines ${first} to ${last}.`)
  const content = Buffer.from(text, 'latin1')
  if (content.equals(bytes)) throw new NotAllowed(`${path} has these lines already.`)
  const edits = [{ name: byteName(path), to: { mode: entry.mode, content } }]
  const tree = await editedTree(repository, before, edits)
  const message = messageOf(mission, session, `Apply a suggestion to ${path}`)
  return commitTree(repository, { tree, parents: [before], message, at: by.now })
}

interface Moved {
  except: string
  range: Range
  count: number
  commit: string
}

async function movedComments(fleet: Fleet, { mission }: Edited, edit: Moved): Promise<Change[]> {
  const changes: Change[] = []
  for await (const { value, version } of all(fleet, 'comments', 'mission', [mission.id])) {
    if (value.id === edit.except || value.candidate !== mission.candidate.commit) continue
    const moved = placeAfter(value, edit.range, edit.count)
    if (moved && changes.length < MOST_MOVED)
      changes.push(put('comments', { ...moved, candidate: edit.commit }, version))
  }
  return changes
}
/** Beside them, a commit has the mission, its session, the comment, the event and a receipt. */
const MOST_MOVED = MAX_COMMIT_ITEMS - 6
