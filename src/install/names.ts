/** The MCP clients that the fleet can be added to. */
export const CLIENT_NAMES = [
  'claude',
  'cursor',
  'windsurf',
  'cline',
  'openclaw',
  'codex',
  'gemini',
  'opencode',
] as const
export type ClientName = (typeof CLIENT_NAMES)[number]

/** Those with a shell, whose rules for it can be written to a file. */
export const SETUP_CLIENTS = ['claude', 'codex', 'gemini', 'opencode'] as const
export type SetupClient = (typeof SETUP_CLIENTS)[number]

/** Those that the skills are written for. */
export const SKILL_CLIENTS = ['claude', 'codex', 'opencode'] as const
export type SkillClient = (typeof SKILL_CLIENTS)[number]

export const SERVER = 'flotilla'
/** Written to files instead of the token itself. */
export const TOKEN_VARIABLE = 'FLEET_TOKEN'
