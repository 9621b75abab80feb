import { expect, test } from 'vitest'
import { toolKind, wishInWords, wishOf } from './tool-words.ts'

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

test('what an agent wants is a sentence without JSON', () => {
  expect(wishInWords('execute', '{ "command": "npm run deploy" }')).toBe('It wants to run a command: npm run deploy')
  expect(wishInWords('shell', '{ "command": ["git", "push"] }')).toBe('It wants to run a command: git push')
  expect(wishInWords('Write', '{ "file_path": "a.txt", "content": "x" }')).toBe('It wants to change files: a.txt')
  expect(wishInWords('lamp', '{ "on": true }')).toBe('It wants to use a tool (lamp)')
  expect(wishInWords('Bash', '{ "command": "cut off')).toBe('It wants to run a command (Bash)')
  expect(wishInWords(null, 'words')).toBe('It wants to use a tool')
})
