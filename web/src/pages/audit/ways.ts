import type { Input } from '../../api/client.ts'

/** From where somebody asked, in words. */
export const WAYS: { value: NonNullable<Input<'list_audit'>['way']>; label: string }[] = [
  { value: 'page', label: 'Page' },
  { value: 'terminal', label: 'Terminal' },
  { value: 'mcp', label: 'MCP' },
  { value: 'rest', label: 'REST' },
  { value: 'websocket', label: 'WebSocket' },
  { value: 'plugin', label: 'Plugin' },
]
