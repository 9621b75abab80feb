import * as z from 'zod'
import { Forbidden } from '../domain/errors.ts'
import { Comment } from '../domain/records/mission.ts'
import { lookUp } from '../fleet/records.ts'
import { addComment, deleteComment, editComment } from '../fleet/review/comments.ts'
import { applySuggestion } from '../fleet/review/suggestions.ts'
import { mayIn } from './authorize.ts'
import { actorOf, ask, edits, given, Paging, Ref } from './inputs.ts'
import { type Caller, type Context, command, query } from './operation.ts'
import { MissionView, missionView } from './views.ts'

const WithMission = z.object({ mission_id: Ref })
const WithComment = z.object({ comment_id: Ref })
const CommentFields = Comment.pick({ body: true, path: true, line: true, start_line: true, side: true })

const ownMission = (caller: Extract<Caller, { kind: 'session' }>, input: { mission_id: string }): boolean =>
  caller.mission_id === input.mission_id

/** What somebody said is changed by them, or by whoever may delete the mission with it. */
function requireOwn(context: Context, { author, project_id }: Comment): void {
  if (author === actorOf(context) || mayIn(context.caller, 'missions.delete', project_id)) return
  throw new Forbidden('This comment is by somebody else.')
}

/** Comments on missions and on lines of their diffs; send_back_mission delivers them to the agent. */
export const comments = [
  command({
    name: 'comment_mission',
    may: 'comments.write',
    mcp: 'review',
    summary: 'Comment on a mission or on lines of its diff; a ```suggestion block proposes other lines',
    http: 'POST /api/missions/:mission_id/comments',
    input: WithMission.extend(CommentFields.shape),
    output: Comment,
    agentMay: ownMission,
    run: async (context, { mission_id, ...fields }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      return addComment(context.fleet, ask(context, 'comment_mission'), value, fields)
    },
  }),
  query({
    name: 'list_comments',
    may: 'missions.read',
    mcp: 'review',
    summary: 'List the comments on a mission, oldest first',
    http: 'GET /api/missions/:mission_id/comments',
    input: WithMission.extend({
      unsent: z.boolean().default(false).describe('only comments of people that its agent has not received yet'),
      ...Paging,
    }),
    output: z.object({ comments: z.array(Comment), cursor: z.string().optional() }),
    agentMay: ownMission,
    run: async ({ fleet }, { mission_id, unsent, limit, cursor }) => {
      const { value } = await lookUp(fleet, 'missions', mission_id)
      const index = unsent ? 'unsent' : 'mission'
      const page = await fleet.store.find('comments', { index, equals: [value.id], limit, cursor })
      return { comments: page.items.map(item => item.value), cursor: page.cursor }
    },
  }),
  command({
    name: 'update_comment',
    may: 'comments.write',
    mcp: 'review',
    summary: 'Change a comment that the agent has not received yet',
    http: 'PUT /api/comments/:comment_id',
    input: WithComment.extend(edits(CommentFields).shape),
    output: Comment,
    run: async (context, { comment_id, ...fields }) => {
      const { value } = await lookUp(context.fleet, 'comments', comment_id)
      requireOwn(context, value)
      return editComment(context.fleet, ask(context, 'update_comment'), value.id, given(fields))
    },
  }),
  command({
    name: 'delete_comment',
    may: 'comments.write',
    mcp: 'review',
    summary: 'Delete a comment that the agent has not received yet',
    http: 'DELETE /api/comments/:comment_id',
    input: WithComment,
    output: z.object({ deleted: z.string() }),
    run: async (context, { comment_id }) => {
      const { value } = await lookUp(context.fleet, 'comments', comment_id)
      requireOwn(context, value)
      await deleteComment(context.fleet, ask(context, 'delete_comment'), value.id)
      return { deleted: value.id }
    },
  }),
  command({
    name: 'apply_suggestion',
    may: 'missions.review',
    mcp: 'review',
    summary: 'Apply the suggestion of a comment to the work of its mission; the result is a new candidate to review',
    http: 'POST /api/comments/:comment_id/apply',
    inServer: true,
    input: WithComment.extend({
      expected: z.string().min(7).max(64).describe('the commit of the mission that you were shown'),
    }),
    output: MissionView,
    run: async (context, { comment_id, expected }) => {
      const { value } = await lookUp(context.fleet, 'comments', comment_id)
      const mission = await applySuggestion(context.fleet, ask(context, 'apply_suggestion'), value.id, expected)
      return missionView(context.fleet, mission)
    },
  }),
]
