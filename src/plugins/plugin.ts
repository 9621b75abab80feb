/**
 * The types for writing a plugin: `import type { Plugin } from 'flotilla/plugin'`.
 * Types only: this file and agents/adapter.ts are published together, as one.
 */
import type { Adapter, Capabilities } from '../agents/adapter.ts'

export type * from '../agents/adapter.ts'

/** The default export of a plugin. */
export interface Plugin {
  description?: string
  /** Runs before anything else. If it throws, the plugin is switched off, and the error is the reason. */
  start?(fleet: FleetApi): unknown
  hooks?: Hooks
  /** By name, as people and clients see it: letters, digits, `_`. */
  tools?: Record<string, Tool>
  /**
   * Agents as declared in `agents.json` of the home, or as code. Both are trusted: what they start runs as you, with your
   * permissions, and the fleet believes what their code reports.
   */
  agents?: readonly (AgentDeclaration | CodeAgent)[]
  /** The settings that the page offers in a form while the plugin runs. Do not throw in `start` because one is missing. */
  settings?: readonly SettingField[]
}

/** One setting, stored under its name in `plugins/<name>.json` of the home. */
export interface SettingField {
  /** Lower-case letters, digits and `_`. */
  name: string
  label: string
  /** `secret`: a text that is never shown again. `list` and `events`: texts. `project`: the id of one. */
  kind: 'text' | 'url' | 'secret' | 'switch' | 'number' | 'list' | 'events' | 'project'
  hint?: string
  placeholder?: string
  required?: boolean
  min?: number
  max?: number
}

/** What a plugin can ask of the fleet. */
export interface FleetApi {
  /** The content of `plugins/<name>.json` in the home; empty if there is no such file. */
  readonly settings: Readonly<Record<string, unknown>>
  /**
   * Calls any operation (docs/reference/operations.md) as the owner of the home; events name the plugin as the actor.
   * A command repeated with the same key is carried out once, also after a restart.
   */
  call<T = unknown>(operation: string, input?: object, options?: { key?: string }): Promise<T>
  /** Writes a line to the log of the server. */
  log(text: string): void
}

export interface Hooks {
  /** Before an agent starts. May change settings of the mission, or refuse. It may be called again for the same start. */
  pre_dispatch?(input: BeforeDispatch, fleet: FleetApi): Decided<Verdict>
  /** Before an agent makes a plan; its mission then also passes `pre_dispatch`. */
  pre_plan?(input: BeforeDispatch, fleet: FleetApi): Decided<Verdict>
  /** Before work lands on the base branch. A refusal sends it to review; a person who then lands it is not stopped again. */
  pre_land?(input: BeforeLanding, fleet: FleetApi): Decided<Refused>
  /** A mission is done. */
  post_complete?(told: Told, fleet: FleetApi): unknown
  /** A mission has failed. */
  post_fail?(told: Told, fleet: FleetApi): unknown
  /** A plan was proposed, or failed. */
  post_plan?(told: Told, fleet: FleetApi): unknown
  /** An agent waits for an answer. */
  on_question?(told: Told & { question: Question }, fleet: FleetApi): unknown
  /** Any event (docs/reference/events.md), except events about plugins and those this plugin caused itself. */
  on_event?(told: Told, fleet: FleetApi): unknown
}

export type Decided<T> = T | undefined | Promise<T | undefined>

export interface Refused {
  /** The reason, as a sentence for people. */
  refuse?: string
}

export interface Verdict extends Refused {
  /** The status of a refused mission; the default is `needs_input`. A plan always fails. */
  status?: 'needs_input' | 'failed'
  /** The same settings as for `update_mission`, checked like those of a person. */
  change?: MissionChange
}

/** What a plugin may change on a mission before it starts. */
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
  /** Why the session starts: first, retry, resume, conflict, … */
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
  /** The mission now, if the event is about one that still exists. */
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
  /** A JSON Schema of type object. Input that does not match never reaches `run`. */
  input?: { type: 'object'; [keyword: string]: unknown }
  /** It changes nothing, so clients may call it without asking. */
  read_only?: boolean
  /** Returns any JSON value. */
  run(input: never, fleet: FleetApi): unknown
}

/** See docs/guides/declared-agents.md. */
export interface AgentDeclaration {
  kind: 'acp' | 'custom'
  name: string
  [field: string]: unknown
}

/**
 * An agent as code. It is trusted: its client runs as you, and this code says what a session did and cost. The functions
 * run in a thread apart from the hooks and must not return promises (except `detect` and `listModels`, each in a new
 * thread). Keep no state and use only the arguments. An error ends the session and is shown as its reason. A function
 * that takes longer than two seconds is ended.
 */
export interface CodeAgent extends Adapter {
  kind: 'code'
  /** What it supports. Anything that is missing here is not supported. It is offered to people, so it must be true. */
  can?: Partial<Omit<Capabilities, 'sandboxed' | 'adopted' | 'remoteControl'>>
}
