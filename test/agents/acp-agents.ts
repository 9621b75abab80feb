import type { AcpDeclaration } from '../../src/agents/acp/adapter.ts'

/** Agents that speak the protocol, as a person would declare them in agents.json. */
export const CLAUDE_ACP: AcpDeclaration = {
  name: 'claude-acp',
  kind: 'acp',
  title: 'Claude over ACP',
  provider: 'anthropic',
  command: ['claude-agent-acp'],
  environment: {
    pass: [
      ...['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'CLAUDE_CONFIG_DIR'],
      ...['CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC', 'CLAUDE_CODE_MAX_RETRIES'],
    ],
    set: {},
  },
  models: [],
  folders: [],
  resume: true,
  fork: true,
  images: true,
  asks: { arguments: [], set: {}, mode: 'default', meta: { claudeCode: { options: { settingSources: [] } } } },
}

export const GEMINI_ACP: AcpDeclaration = {
  name: 'gemini-acp',
  kind: 'acp',
  title: 'Gemini over ACP',
  provider: 'google',
  command: ['gemini', '--acp'],
  environment: {
    pass: ['GEMINI_API_KEY', 'GOOGLE_GEMINI_BASE_URL', 'GEMINI_CLI_HOME'],
    // It reaches servers only from a trusted folder, and a trusted folder may change the rules.
    set: { GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
  models: [],
  folders: [],
  resume: false,
  fork: false,
  images: true,
  asks: { arguments: [], set: { GEMINI_CLI_TRUST_WORKSPACE: 'false' }, mode: 'default' },
}
