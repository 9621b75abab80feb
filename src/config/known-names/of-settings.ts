import { type KnownName, kept } from './name.ts'

/**
 * Names of other tools for our settings. In a file of their own, because every command reads them, and only the
 * documentation reads the rest.
 */
export const OF_SETTINGS: KnownName[] = [
  kept('codefleet', 'variable', 'FLEET_DEFAULT_EXECUTOR', 'default_agent'),
  kept('codefleet', 'variable', 'FLEET_DEFAULT_MODEL', 'default_model'),
  kept('codefleet', 'variable', 'FLEET_DEFAULT_TIMEOUT', 'default_timeout', 'the default here is 7200 seconds'),
  kept('codefleet', 'variable', 'FLEET_MAX_CONCURRENT', 'max_concurrent'),
  kept('codefleet', 'variable', 'FLEET_MAX_SPAWN_DEPTH', 'max_spawn_depth'),
  kept('codefleet', 'variable', 'FLEET_ALLOWED_REPOS', 'allowed_repos'),
  kept('codefleet', 'variable', 'FLEET_STALE_TIMEOUT', 'stall_after', 'stall_policy says what happens then'),
  kept('claude-devfleet', 'variable', 'DEVFLEET_MAX_AGENTS', 'max_concurrent'),
  kept('claude-devfleet', 'variable', 'DEVFLEET_ENGINE', 'claude_engine'),
  kept('claude-devfleet', 'variable', 'DEVFLEET_CONTEXT_MODE_CMD', 'context_mode_cmd'),
  kept('claude-devfleet', 'variable', 'DEVFLEET_PROJECTS_DIR', 'projects_dir'),
  kept('fleet (beads supervisor)', 'key', 'max_concurrent', 'max_concurrent', 'the default here is 4'),
  kept('fleet (beads supervisor)', 'key', 'coder', 'default_agent', 'it has no default here, and cannot be shell'),
  kept('fleet (beads supervisor)', 'key', 'model', 'default_model', 'here the client chooses by default'),
  kept('fleet (beads supervisor)', 'key', 'context_pressure_threshold_pct', 'context_limit'),
  kept('claude-fleet', 'variable', 'JWT_EXPIRES_IN', 'jwt_expires_in', 'at most 24 h'),
]
