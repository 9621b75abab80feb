import { join } from 'node:path'

/** Stand-ins for clients that we cannot test with. */
export const STAND_INS = join(import.meta.dirname, '../fixtures/stand-ins')

/** An unknown coding agent, as a person would declare it in agents.json. */
export const LINER = {
  name: 'liner',
  kind: 'custom',
  title: 'Liner',
  command: ['liner'],
  prompt: 'stdin',
  environment: { pass: ['LINER_KEY'], set: { LINER_QUIET: '1' } },
  arguments: {
    model: ['--model', '{model}'],
    resume: ['--continue={conversation}'],
    mcp: ['--mcp', '{mcp_file}'],
    presets: { full: [], review: ['--read-only'] },
  },
  events: [
    { event: 'started', when: { kind: 'hello' }, conversation: 'thread' },
    { event: 'tool_call', when: { kind: 'call' }, id: 'call.id', name: 'call.tool', input: 'call.with' },
    { event: 'tool_result', when: { kind: 'called' }, id: 'call.id', output: 'output' },
    {
      event: 'usage',
      when: { kind: 'bill' },
      counts: 'more',
      input_tokens: 'tokens.in',
      output_tokens: 'tokens.out',
      cost_usd: 'usd',
    },
    { event: 'rate_limit', when: { kind: 'wait' }, until: 'until', text: 'words' },
    { event: 'result', when: { kind: 'bye', status: 'good' }, ok: true, text: 'words' },
    { event: 'result', when: { kind: 'bye', status: 'bad' }, ok: false, text: 'words' },
  ],
  other_lines: 'raw',
}

/** An agent that speaks the Agent Client Protocol and notes the images it is shown, in the file VIEWER_LOG. */
export const VIEWER = {
  name: 'viewer',
  kind: 'acp',
  title: 'Viewer',
  command: ['viewer'],
  environment: { pass: ['VIEWER_LOG', 'VIEWER_BLIND'], set: {} },
  resume: true,
  images: true,
}
