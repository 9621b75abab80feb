import { customAgent } from './custom/adapter.ts'

/**
 * The Antigravity command-line client. It takes its prompt only as an argument, so the argument names a file. It prints
 * plain text, or JSON, which is read as such. We had no copy of it: everything here is tested with a stand-in, and
 * nothing is offered that only the real client could prove.
 */
export const agy = customAgent({
  kind: 'custom',
  name: 'agy',
  title: 'Antigravity CLI',
  provider: 'google',
  command: [
    'agy',
    ...['--print', 'Read the file {prompt_file} to its end and do what it says.', '--add-dir', '{directory}'],
    // Its own time limit is minutes. The limit of the mission counts.
    '--print-timeout=168h',
  ],
  prompt: 'file',
  scripts: false,
  arguments: { model: ['--model', '{model}'], presets: { full: ['--dangerously-skip-permissions'] } },
  environment: {
    pass: ['XDG_CONFIG_HOME', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'],
    set: { AGY_CLI_DISABLE_AUTO_UPDATE: 'true' },
  },
  models: [],
  mcp_by: 'http',
  folders: [],
  events: [
    { event: 'started', when: { type: 'init' }, conversation: 'session_id', model: 'model' },
    { event: 'text', when: { type: 'message', role: 'assistant' }, text: 'content', piece: true },
    { event: 'tool_call', when: { type: 'tool_use' }, id: 'tool_id', name: 'tool_name', input: 'parameters' },
    {
      event: 'tool_result',
      when: { type: 'tool_result', status: 'success' },
      id: 'tool_id',
      output: 'output',
      failed: false,
    },
    {
      event: 'tool_result',
      when: { type: 'tool_result', status: 'error' },
      id: 'tool_id',
      output: 'error.message',
      failed: true,
    },
    { event: 'error', when: { type: 'error' }, text: 'message' },
  ],
  other_lines: 'text',
  install: 'Install the Antigravity CLI and run agy once to sign in.',
})
