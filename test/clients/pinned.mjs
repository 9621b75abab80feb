// The real clients that tests drive, at exact versions, because their output changes between versions.
import { homedir } from 'node:os'
import { join } from 'node:path'

export const CLIENTS = {
  claude: { package: '@anthropic-ai/claude-code', version: '2.1.325' },
  gemini: { package: '@google/gemini-cli', version: '0.61.0' },
  opencode: { package: 'opencode-ai', version: '1.18.33' },
  codex: { package: '@openai/codex', version: '0.166.0' },
  'mcp-inspector': { package: '@modelcontextprotocol/inspector', version: '2.12.0' },
  'claude-agent-acp': { package: '@agentclientprotocol/claude-agent-acp', version: '0.99.0' },
  // It drives the client above, so its own copy is not installed.
  'claude-agent-sdk': { package: '@anthropic-ai/claude-agent-sdk', version: '0.3.325', omit: 'optional' },
  // Its install script changes the settings of coding clients that it finds.
  'context-mode': { package: 'context-mode', version: '1.0.169', withoutScripts: true },
}

/** @param {{ package: string, version: string }} client */
export function folderOf(client) {
  return join(cacheFolder(), 'clients', `${client.package.replaceAll('/', '-').replace('@', '')}-${client.version}`)
}

export function cacheFolder() {
  return process.env.FLEET_TEST_CACHE || join(homedir(), '.cache', 'flotilla-test')
}
