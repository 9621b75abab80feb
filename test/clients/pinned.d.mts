interface Client {
  package: string
  version: string
}
export const CLIENTS: Record<'claude' | 'gemini' | 'opencode' | 'codex' | 'claude-agent-acp' | 'mcp-inspector', Client>
export function folderOf(client: Client): string
