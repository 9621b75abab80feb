import * as z from 'zod'
import { Id, Timestamp } from '../domain/ids.ts'
import { Result, Status } from '../domain/records/mission.ts'
import { searchRepositories } from '../fleet/search/repositories.ts'
import { search as searchTexts } from '../fleet/search/searching.ts'
import { TEXT_KINDS } from '../store/index.ts'
import { ProjectRef } from './inputs.ts'
import { query } from './operation.ts'

const Text = z.string().min(1).max(200)
const limit = z.number().int().min(1).max(50).default(20)

export const search = [
  query({
    name: 'search',
    // It finds what transcripts say, so it needs the permission to read them.
    may: 'transcripts.read',
    mcp: 'history',
    summary: 'Search the full text of missions, comments, reports and transcripts of ended sessions',
    http: 'GET /api/search',
    // The server keeps the index up to date.
    inServer: true,
    input: z.object({
      text: Text.describe('all words must occur, each as a word or its beginning; "quoted words" occur exactly so'),
      kinds: z
        .array(z.enum(TEXT_KINDS))
        .min(1)
        .max(TEXT_KINDS.length)
        .default([...TEXT_KINDS])
        .describe('where to look'),
      project_id: ProjectRef.optional(),
      from: Timestamp.optional().describe('only what was written at this time or later'),
      before: Timestamp.optional().describe('only what was written before this time'),
      limit: limit.describe('at most this many of each kind'),
    }),
    output: z.object({
      hits: z
        .array(
          z.object({
            kind: z.enum(TEXT_KINDS),
            mission: z.object({
              id: Id,
              title: z.string(),
              status: Status,
              result: Result.nullable(),
              project_id: Id,
              created_at: Timestamp,
            }),
            session_id: Id.nullable(),
            place: z
              .string()
              .describe('the id of the mission, comment or report; for a transcript, the cursor after the event'),
            part: z.string().describe('where the words are: title, prompt, comment, report, or the type of the event'),
            at: z.string(),
            snippet: z.string(),
            marks: z.array(z.object({ from: z.number(), length: z.number() })).describe('where the words are in it'),
            more: z.number().int().describe('more hits in the same transcript'),
          }),
        )
        .describe('by kind; missions with the words in their title first, then the newest'),
      complete: z.boolean().describe('false: the server has just started, and some texts are not in the index yet'),
    }),
    run: ({ fleet }, wanted) => searchTexts(fleet, wanted),
  }),
  query({
    name: 'search_repositories',
    may: 'missions.read',
    mcp: 'history',
    summary: "Search the files or the commit messages of projects' base branches, with git",
    http: 'GET /api/search/repositories',
    input: z.object({
      text: Text.regex(/^[^\0\r\n]+$/, 'one line of text').describe('this text, in any case'),
      of: z.enum(['files', 'commits']).default('files'),
      project_id: ProjectRef.optional().describe('absent: all projects'),
      limit,
    }),
    output: z.object({
      hits: z.array(
        z.object({
          project_id: Id,
          kind: z.enum(['line', 'path', 'commit']).describe('a line of a file, a file by its path, or a commit'),
          path: z.string().nullable(),
          line: z.number().int().nullable(),
          commit: z.string().describe('the commit, or the tip of the base branch'),
          text: z.string().describe('the line, or the first line of the commit message'),
          author: z.string().nullable(),
          at: z.string().nullable(),
          mission_id: Id.nullable().describe('the mission that landed the commit'),
        }),
      ),
      more: z.boolean().describe('there may be more: the limit or the time was up'),
      unread: z.array(Id).describe('projects that could not be searched'),
    }),
    run: ({ fleet }, wanted) => searchRepositories(fleet, wanted),
  }),
]
