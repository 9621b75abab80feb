import type { ToolPreset } from '../../domain/records/project.ts'
import { type Json, list, object } from '../json.ts'

/** Tools of Claude Code that outlive the session, leave its worktree or talk to the person's other sessions. */
export const NEVER = [
  ...['EnterWorktree', 'ExitWorktree', 'ListAgents', 'SendMessage'],
  ...['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup', 'RemoteTrigger'],
]

/** Background work ends with the turn, because nobody waits for it over ACP. */
const BACKGROUND = ['Workflow', 'Monitor']
/** Helpers may make a worktree, and the client does not ask about them. */
const HELPERS = ['Agent', 'Task', 'Skill']

/**
 * The `_meta` that opens a conversation over ACP, including what the declaration says. It is the only way to remove
 * tools from Claude Code's ACP agent, which does not ask about them. Other agents ignore it.
 */
export function openingMeta(declared: Json, preset: ToolPreset): Json {
  const claudeCode = object(declared.claudeCode) ?? {}
  const options = object(claudeCode.options) ?? {}
  const never = [...NEVER, ...BACKGROUND, ...(preset === 'full' ? [] : HELPERS)]
  return {
    ...declared,
    claudeCode: {
      ...claudeCode,
      options: {
        ...options,
        disallowedTools: [...new Set([...list(options.disallowedTools), ...never])],
      },
    },
  }
}
