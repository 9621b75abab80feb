import { expect, test } from 'vitest'
import { toolKind, wishOf } from './tool-words.ts'

test.each([
  ['run', ['Bash', 'shell', 'run_shell_command', 'execute', 'exec_command', 'KillShell']],
  ['edit', ['Edit', 'Write', 'MultiEdit', 'apply_patch', 'replace', 'write_file', 'NotebookEdit']],
  ['read', ['Read', 'read_file', 'view']],
  ['search', ['Grep', 'Glob', 'search_file_content', 'list_directory', 'LS']],
  ['web', ['WebFetch', 'WebSearch', 'google_web_search', 'webfetch']],
  ['agent', ['Task', 'Agent']],
  ['plan', ['TodoWrite', 'update_plan', 'ExitPlanMode']],
  ['ask', ['AskUserQuestion']],
  ['service', ['mcp__fleet__report', 'mcp__github__create_issue']],
  ['other', ['Sing', '']],
])('tools that %s', (kind, names) => {
  expect(names.map(toolKind)).toEqual(names.map(() => kind))
})

test('a permission says what the agent wants to do', () => {
  expect(wishOf('Bash')).toBe('Wants to run a command')
  expect(wishOf(null)).toBe('Wants to use a tool')
})
