interface Client {
  package: string
  version: string
  omit?: string
  withoutScripts?: boolean
}
export const CLIENTS: Record<
  | 'claude'
  | 'gemini'
  | 'opencode'
  | 'codex'
  | 'claude-agent-acp'
  | 'claude-agent-sdk'
  | 'mcp-inspector'
  | 'context-mode',
  Client
>
export function cacheFolder(): string
export function folderOf(client: Client): string
