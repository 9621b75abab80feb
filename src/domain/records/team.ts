import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { SCREEN_STATES } from '../rules/screen.ts'
import { MAX_REASON_CHARS, StoredText } from '../text.ts'
import { HEALTHY, Health, MemberMonitor, TeamMonitor } from './health.ts'

/** The name of a team, or of a member in its team. It can be written after an @ and in an address. */
export const Handle = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,40}$/, 'has 1 to 40 letters, digits, - or _')
  .describe('letters, digits, - and _')

/** The roles of people, without the owner: what each may do is in `operations/roles.ts`. */
export const MEMBER_ROLES = ['team-lead', 'coordinator', 'worker', 'merger', 'monitor'] as const
export const MemberRole = z.enum(MEMBER_ROLES)
export type MemberRole = z.infer<typeof MemberRole>

/** More members would not fit into the commit of a message to all. */
export const MOST_MEMBERS = 60

export const SPAWNING = ['ask', 'grant'] as const

/** A standing group of agents and people, who write to each other and divide work. */
export const Team = z.object({
  id: Id,
  project_id: Id.describe('the project it works on. Whoever sees the project sees the team'),
  name: Handle,
  description: z.string().max(2000).default(''),
  max_members: z.number().int().min(1).max(MOST_MEMBERS).default(10).describe('how many agents it may have at once'),
  max_budget_usd: z.number().positive().max(100_000).nullable().default(null).describe('for all its members together'),
  paused: z.boolean().default(false).describe('nobody in it is woken'),
  monitor: TeamMonitor.default(TeamMonitor.parse({})).describe('whether its members are watched'),
  spawning: z
    .enum(SPAWNING)
    .default('ask')
    .describe(
      'what becomes of requests for more members. ask: a lead or a person grants them; grant: they are granted',
    ),
  /**
   * Who is in it now. Adding a member writes this record, so that two with one name, or one too many, cannot be added
   * at the same time.
   */
  roster: z
    .array(z.object({ handle: Handle, member_id: Id, is_agent: z.boolean(), swarm_id: Id.nullable().default(null) }))
    .max(2 * MOST_MEMBERS)
    .default([]),
  created_at: Timestamp,
  updated_at: Timestamp,
  ended_at: Timestamp.nullable().default(null).describe('it was deleted; what it wrote stays'),
})
export type Team = z.infer<typeof Team>

/** Where an agent runs. tmux: its client in a window that one can watch; outside: a session that a person started. */
export const PLACEMENTS = ['headless', 'tmux', 'outside'] as const

const Process = z.object({ pid: z.number().int(), started: z.string(), boot: z.string() })

/** The terminal of a member, as it was seen last. */
export const MemberTerminal = z.object({
  session_id: Id.describe('the session that it belongs to'),
  pane: z
    .object({ server: Process, pane: z.string(), process: Process })
    .nullable()
    .describe('its window in tmux, which nothing else can be mistaken for; empty: it is not open'),
  state: z.enum([...SCREEN_STATES, 'opening', 'ended']),
  since: Timestamp.describe('since when it is in this state'),
  text: z.string().max(MAX_REASON_CHARS).nullable().default(null).describe('why nothing is typed into it'),
  asked: z.boolean().default(false).describe('people were told that this state needs them'),
})
export type MemberTerminal = z.infer<typeof MemberTerminal>

/** An agent or a person in a team. An idle agent is no process: mail starts a session that continues its conversation. */
export const Member = z.object({
  id: Id,
  team_id: Id,
  project_id: Id,
  handle: Handle,
  role: MemberRole,
  person: z
    .string()
    .max(120)
    .nullable()
    .default(null)
    .describe('for a person: `person` (the owner) or person:<id>; empty: it is an agent'),
  labels: z.array(z.string().min(1).max(60)).max(20).default([]),
  swarm_id: Id.nullable().default(null).describe('the group within the team that it belongs to'),
  mission_id: Id.nullable().default(null).describe('the mission that its sessions belong to; empty: a person'),
  session_id: Id.nullable().default(null).describe('its newest session'),
  generation: z.number().int().default(0).describe('how many sessions it had; only the newest may be live'),
  paused: z.boolean().default(false).describe('it is not woken'),
  continues: Id.nullable()
    .default(null)
    .describe('the session whose conversation its own begins with, as a copy; empty: none, or it has begun'),
  works_for: Id.nullable()
    .default(null)
    .describe('the member who is told first if its answers are overdue; empty: whoever leads the team'),
  depth: z
    .number()
    .int()
    .default(0)
    .describe('0: a person added it; otherwise one more than the agent who asked for it'),
  wakes: z.array(Timestamp).default([]).describe('when mail woke it in the last hour'),
  held: z
    .object({ until: Timestamp.nullable(), text: z.string().max(MAX_REASON_CHARS) })
    .nullable()
    .default(null)
    .describe('why mail does not wake it now'),
  created_at: Timestamp,
  updated_at: Timestamp,
  placement: z.enum(PLACEMENTS).default('headless').describe('where it runs'),
  terminal: MemberTerminal.nullable().default(null),
  health: Health.default(HEALTHY),
  monitor: MemberMonitor.default(MemberMonitor.parse({})).describe('whether it is watched'),
  joined_until: Timestamp.nullable().default(null).describe('outside: until when its token is valid'),
  /** With whom its token ends. Empty: the owner of the home let it in. */
  joined_by: z.object({ principal_id: Id, epoch: z.number().int(), token_id: Id.nullable() }).nullable().default(null),
  dismissed_at: Timestamp.nullable().default(null),
})
export type Member = z.infer<typeof Member>

export const NEEDS = ['none', 'ack', 'reply', 'decision'] as const
export const Needs = z.enum(NEEDS)
export const PRIORITIES = ['low', 'normal', 'high', 'critical'] as const
export const MAX_MAIL_CHARS = 200_000
export const MAX_MAIL_SUBJECT = 200

/** A message between members. Whether it arrived is in its deliveries, one for each recipient. */
export const Mail = z.object({
  id: Id,
  team_id: Id,
  project_id: Id,
  thread: Id.describe('the first message of the conversation'),
  reply_to: Id.nullable().default(null),
  from: z.object({
    member_id: Id.nullable().describe('empty: the fleet itself'),
    handle: z.string().max(40),
    role: z.string().max(40),
  }),
  to: z.array(z.string().max(60)).max(MOST_MEMBERS).describe('as it was addressed: names, @role, @all'),
  subject: z.string().max(MAX_MAIL_SUBJECT).default(''),
  body: StoredText,
  priority: z.enum(PRIORITIES).default('normal'),
  needs: Needs.default('none'),
  deadline: Timestamp.nullable().default(null),
  hops: z.number().int().default(0).describe('how many messages of agents lead up to it in its thread'),
  /** Messages are in this order: microseconds, and never the same twice in one process. */
  order: z.number().int(),
  created_at: Timestamp,
})
export type Mail = z.infer<typeof Mail>

export const DELIVERY_STATES = [
  'queued',
  'handed',
  'heard',
  'acked',
  'replied',
  'declined',
  'cancelled',
  'expired',
  'bounced',
] as const

/** A message on its way to one recipient. */
export const Delivery = z.object({
  id: Id,
  mail_id: Id,
  team_id: Id,
  project_id: Id,
  member_id: Id,
  from: Id.describe('the member who sent it, or fleet'),
  state: z.enum(DELIVERY_STATES),
  needs: Needs,
  wakes: z.boolean().describe('it wakes an idle member; otherwise it waits for the next turn'),
  held: z.string().max(MAX_REASON_CHARS).nullable().default(null).describe('why it waits for a person to release it'),
  session_id: Id.nullable().default(null).describe('the session it was handed to'),
  via: z
    .enum(['prompt', 'message', 'tool'])
    .nullable()
    .default(null)
    .describe('prompt: it was in the prompt of that session; message: it was told during a turn; tool: it was fetched'),
  heard_by: z
    .enum(['echo', 'turn', 'tool'])
    .nullable()
    .default(null)
    .describe(
      'echo: the client repeated it; turn: the model answered a prompt that contained it; tool: it was read or answered through a tool',
    ),
  reason: z.string().max(MAX_REASON_CHARS).nullable().default(null),
  times_handed: z.number().int().default(0),
  /** When the next step of its escalation is due: a reminder, then the lead, then a person. */
  due_at: Timestamp.nullable().default(null),
  escalated: z.number().int().default(0),
  order: z.number().int(),
  created_at: Timestamp,
  handed_at: Timestamp.nullable().default(null),
  heard_at: Timestamp.nullable().default(null),
  closed_at: Timestamp.nullable().default(null),
})
export type Delivery = z.infer<typeof Delivery>
