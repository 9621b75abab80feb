/**
 * What a plugin is, for whoever writes one: `import type { Plugin } from 'flotilla/plugin'`.
 * Types only: this file and agents/adapter.ts are published together, as one.
 */
import type { Adapter, Capabilities } from '../agents/adapter.ts'

export type * from '../agents/adapter.ts'

/** The default export of a plugin. */
export interface Plugin {
  description?: string
  /** Before anything else. Throwing here switches the plugin off, with what was thrown as the reason. */
  start?(fleet: FleetApi): unknown
  hooks?: Hooks
  /** By their names, which are those people and clients see: letters, digits, `_`. */
  tools?: Record<string, Tool>
  /**
   * Agents as `agents.json` of the home declares them, or as code. Both are trusted: what they start runs as you, with
   * what you may read and do, and the fleet goes by what their code says of it.
   */
  agents?: readonly (AgentDeclaration | CodeAgent)[]
}

/** What a plugin may ask of the fleet. */
export interface FleetApi {
  /** What `plugins/<name>.json` in the home holds; empty where there is no such file. */
  readonly settings: Readonly<Record<string, unknown>>
  /**
   * Asks for any operation (docs/reference/operations.md) as the owner of the home; events name the plugin as the actor.
   * A command asked for again with the same key is not carried out again, also after a restart.
   */
  call<T = unknown>(operation: string, input?: object, options?: { key?: string }): Promise<T>
  /** A line in the log of the server. */
  log(text: string): void
}

export interface Hooks {
  /** Before an agent is sent. May change settings of the mission, or refuse. It may be asked again about the same start. */
  pre_dispatch?(input: BeforeDispatch, fleet: FleetApi): Decided<Verdict>
  /** Before an agent works out a plan; its mission then also passes `pre_dispatch`. */
  pre_plan?(input: BeforeDispatch, fleet: FleetApi): Decided<Verdict>
  /** Before work is brought onto the base branch. A refusal puts it to review; whoever then lands it is not asked again. */
  pre_land?(input: BeforeLanding, fleet: FleetApi): Decided<Refused>
  /** A mission is done. */
  post_complete?(told: Told, fleet: FleetApi): unknown
  /** A mission has failed. */
  post_fail?(told: Told, fleet: FleetApi): unknown
  /** A plan was proposed, or none came of it. */
  post_plan?(told: Told, fleet: FleetApi): unknown
  /** An agent waits for an answer. */
  on_question?(told: Told & { question: Question }, fleet: FleetApi): unknown
  /** Anything happened (docs/reference/events.md), but for what became of plugins and what this one did itself. */
  on_event?(told: Told, fleet: FleetApi): unknown
}

export type Decided<T> = T | undefined | Promise<T | undefined>

export interface Refused {
  /** Why, as a sentence that people read. */
  refuse?: string
}

export interface Verdict extends Refused {
  /** Where a mission goes that is refused; `needs_input` if nothing is said. A plan always fails. */
  status?: 'needs_input' | 'failed'
  /** Settings as `update_mission` takes them, checked as those of a person are. */
  change?: MissionChange
}

/** What a plugin may set on a mission before it starts. */
export interface MissionChange {
  detailed_prompt?: string
  acceptance_criteria?: string
  agent?: string | null
  model?: string | null
  effort?: string | null
  max_turns?: number | null
  max_budget_usd?: number | null
  timeout_seconds?: number | null
  max_retries?: number | null
  tool_preset?: string | null
  allowed_tools?: string[] | null
  append_system_prompt?: string
  tags?: string[]
  landing?: string | null
  metadata?: Record<string, unknown>
}

export interface BeforeDispatch {
  mission: Mission & { detailed_prompt: string }
  project: Project
  /** Why the session begins: first, retry, resume, conflict, … */
  reason: string
}

export interface BeforeLanding {
  mission: Mission
  project: Project
  /** Where the work is. */
  branch: string | null
  commit: string | null
}

export interface Told {
  event: FleetEvent
  /** As it is now, if the event is about one that still exists. */
  mission: Mission | null
}

export interface FleetEvent {
  cursor: string
  kind: string
  time: string
  /** person, fleet, session:<id> or plugin:<name> */
  actor: string
  project_id: string | null
  mission_id: string | null
  session_id: string | null
  cause: string | null
  data: Record<string, unknown>
}

export interface Mission {
  id: string
  project_id: string
  title: string
  mission_type: string
  status: string
  status_reason: { code: string; text: string; try?: string } | null
  result: string | null
  agent: string | null
  model: string | null
  tags: string[]
  metadata: Record<string, unknown>
  parent_mission_id: string | null
  plan_id: string | null
  session_id: string | null
  branch: string | null
  created_at: string
  updated_at: string
}

export interface Project {
  id: string
  name: string
  path: string
  base_branch: string
}

export interface Question {
  id: string
  mission_id: string
  session_id: string
  kind: 'permission' | 'question' | 'interruption'
  tool: string | null
  text: string
}

export interface Tool {
  summary: string
  /** A JSON Schema of type object. What does not fit it never reaches `run`. */
  input?: { type: 'object'; [keyword: string]: unknown }
  /** Changes nothing, so that clients may call it without asking. */
  read_only?: boolean
  /** Answers with anything JSON can hold. */
  run(input: never, fleet: FleetApi): unknown
}

/** See docs/guides/declared-agents.md. */
export interface AgentDeclaration {
  kind: 'acp' | 'custom'
  name: string
  [field: string]: unknown
}

/**
 * An agent as code. It is trusted: its client runs as you, and what a session did and cost is what this code reads out of
 * it. The functions run in a thread apart from that of the hooks, and nothing waits for promises of theirs (`detect` and
 * `listModels` excepted, each in a fresh thread): keep no state, look at nothing but the arguments. What they throw is the
 * end of the session, as a sentence; one that takes longer than two seconds is ended.
 */
export interface CodeAgent extends Adapter {
  kind: 'code'
  /** What is not named it cannot; what it can is offered to people, so it must be true. */
  can?: Partial<Omit<Capabilities, 'sandboxed' | 'adopted' | 'remoteControl'>>
}
