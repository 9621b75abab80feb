import type { ToolPreset } from '../../domain/records/project.ts'
import { type Json, list, object } from '../json.ts'

/** Tools of Claude Code that outlive the session, leave its worktree or speak to the person's other sessions. */
export const NEVER = [
  ...['EnterWorktree', 'ExitWorktree', 'ListAgents', 'SendMessage'],
  ...['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup', 'RemoteTrigger'],
]

/** Work in the background, which ends with the turn: over ACP nobody waits for it. */
const BACKGROUND = ['Workflow', 'Monitor']
/** Helpers, which may make a worktree and are not asked about. */
const HELPERS = ['Agent', 'Task', 'Skill']

/**
 * What is said at the opening of a conversation over ACP, with what the declaration says. The adapter of Claude Code
 * takes away tools only in this way: it does not ask about them. Other agents leave what they do not know unread.
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
