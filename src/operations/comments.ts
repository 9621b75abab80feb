import * as z from 'zod'
import { Comment } from '../domain/records/mission.ts'
import { lookUp } from '../fleet/records.ts'
import { changeRemark, deleteRemark, makeRemark } from '../fleet/review/comments.ts'
import { ask, edits, given, Paging, Ref } from './inputs.ts'
import { type Caller, command, query } from './operation.ts'

const WithMission = z.object({ mission_id: Ref })
const WithComment = z.object({ comment_id: Ref })
const Remark = Comment.pick({ body: true, path: true, line: true, side: true })

const ownMission = (caller: Extract<Caller, { kind: 'session' }>, input: { mission_id: string }): boolean =>
  caller.mission_id === input.mission_id

/** Remarks on missions and on lines of their diffs; send_back_mission tells the agent of them. */
export const comments = [
  command({
    name: 'comment_mission',
    summary: 'Leave a remark on a mission or on a line of its diff',
    http: 'POST /api/missions/:mission_id/comments',
    input: WithMission.extend(Remark.shape),
    output: Comment,
    agentMay: ownMission,
    run: async (context, { mission_id, ...remark }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      return makeRemark(context.fleet, ask(context, 'comment_mission'), value, remark)
    },
  }),
  query({
    name: 'list_comments',
    summary: 'The remarks on a mission, oldest first',
    http: 'GET /api/missions/:mission_id/comments',
    input: WithMission.extend({
      unsent: z.boolean().default(false).describe('only what people remarked and its agent was not told yet'),
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
    summary: 'Change a remark that the agent was not told yet',
    http: 'PUT /api/comments/:comment_id',
    input: WithComment.extend(edits(Remark).shape),
    output: Comment,
    run: async (context, { comment_id, ...fields }) => {
      const { value } = await lookUp(context.fleet, 'comments', comment_id)
      return changeRemark(context.fleet, ask(context, 'update_comment'), value.id, given(fields))
    },
  }),
  command({
    name: 'delete_comment',
    summary: 'Take back a remark that the agent was not told yet',
    http: 'DELETE /api/comments/:comment_id',
    input: WithComment,
    output: z.object({ deleted: z.string() }),
    run: async (context, { comment_id }) => {
      const { value } = await lookUp(context.fleet, 'comments', comment_id)
      await deleteRemark(context.fleet, ask(context, 'delete_comment'), value.id)
      return { deleted: value.id }
    },
  }),
]
