import { DECISIONS } from '../domain/choices.ts'
import { MISSION_TYPES } from '../domain/records/mission.ts'
import { APPROVAL_MODES, ENGINES, LANDING_POLICIES, TOOL_PRESETS } from '../domain/records/project.ts'
import type { Field } from './command.ts'

/** When an agent continues in a fresh conversation. */
export const CONTEXT_FIELD: Field = {
  flags: '--context-limit <percent>',
  field: 'context_limit_percent',
  summary: 'share of the context window it may fill',
  kind: 'number',
}

/** How Claude Code is driven. */
export const ENGINE_FIELD: Field = {
  flags: '--engine <engine>',
  field: 'engine',
  summary: 'drive Claude Code through its command line (cli) or its SDK (sdk)',
  choices: ENGINES,
}

/** Settings that can be given each time an agent is sent. The mission keeps them. */
export const RUN_FIELDS: readonly Field[] = [
  { flags: '--agent <agent>', field: 'agent', summary: 'the coding agent' },
  { flags: '--model <model>', field: 'model', summary: 'the model' },
  { flags: '--effort <level>', field: 'effort', summary: 'reasoning effort; see fleet agents' },
  ENGINE_FIELD,
  { flags: '--turns <n>', field: 'max_turns', summary: 'maximum number of turns', kind: 'number' },
  {
    flags: '--budget <usd>',
    field: 'max_budget_usd',
    summary: 'maximum cost of all its sessions together',
    kind: 'number',
  },
  { flags: '--timeout <seconds>', field: 'timeout_seconds', summary: 'maximum duration', kind: 'number' },
  CONTEXT_FIELD,
  { flags: '--preset <preset>', field: 'tool_preset', summary: 'tools it may use', choices: TOOL_PRESETS },
  { flags: '--tools <tools>', field: 'allowed_tools', summary: 'exactly the tools it may use', kind: 'list' },
  {
    flags: '--landing <policy>',
    field: 'landing',
    summary: 'what happens to finished work',
    choices: LANDING_POLICIES,
  },
  {
    flags: '--context-mode',
    field: 'context_mode',
    summary: 'attach the context-mode server, which keeps large outputs out of the conversation',
    kind: 'flag',
  },
]

/** What happens if the agent wants something that its preset does not allow. */
export const APPROVALS_FIELD: Field = {
  flags: '--approvals <mode>',
  field: 'approvals',
  summary: 'deny what the preset does not allow, or ask you',
  choices: APPROVAL_MODES,
}

/** The command that shows its work in a browser. */
export const SPARSE_FIELD: Field = {
  flags: '--sparse <folders>',
  field: 'sparse',
  summary: 'folders to check out in a large repository; empty for everything',
  kind: 'list',
}

export const PREVIEW_FIELD: Field = {
  flags: '--preview <line>',
  field: 'preview_command',
  summary: 'shell command that serves a preview on $PORT',
}

/** Everything a person may set on a mission. */
export const MISSION_FIELDS: readonly Field[] = [
  { flags: '--title <title>', field: 'title', summary: 'a short name (default: the first line of the prompt)' },
  ...RUN_FIELDS,
  APPROVALS_FIELD,
  {
    flags: '--answer-within <seconds>',
    field: 'answer_within_seconds',
    summary: 'when to answer a question automatically',
    kind: 'number',
  },
  { flags: '--otherwise <answer>', field: 'otherwise', summary: 'the automatic answer', choices: DECISIONS },
  { flags: '--accept <text>', field: 'acceptance_criteria', summary: 'how to tell that it is done', kind: 'text' },
  { flags: '--type <type>', field: 'mission_type', summary: 'what kind of work it is', choices: MISSION_TYPES },
  { flags: '--retries <n>', field: 'max_retries', summary: 'number of automatic retries', kind: 'number' },
  {
    flags: '--instructions <text>',
    field: 'append_system_prompt',
    summary: 'extra instructions for the agent',
    kind: 'text',
  },
  { flags: '--priority <n>', field: 'priority', summary: 'higher starts first', kind: 'number' },
  { flags: '--tag <tags>', field: 'tags', summary: 'tags, separated by commas; may be repeated', kind: 'list' },
  { flags: '--parent <mission>', field: 'parent_mission_id', summary: 'parent mission' },
  {
    flags: '--after <missions>',
    field: 'depends_on',
    summary: 'missions that must be done first; may be repeated',
    kind: 'list',
  },
  {
    flags: '--start-from <where>',
    field: 'start_from',
    summary: 'branch: start from the unlanded work of its dependencies',
    choices: ['base', 'branch'],
  },
  { flags: '--from <ref>', field: 'base_ref', summary: 'the branch, tag or commit it starts from' },
  {
    flags: '--subdirectory <folder>',
    field: 'subdirectory',
    summary: 'folder in the repository where the agent starts',
    kind: 'text',
  },
  SPARSE_FIELD,
  PREVIEW_FIELD,
]
