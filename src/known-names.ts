/** Names of settings that people know from other tools, and ours that mean the same. */
export const SETTING_ALIASES: readonly { kind: 'key' | 'variable'; name: string; ours: string }[] = [
  { kind: 'variable', name: 'DEVFLEET_MAX_AGENTS', ours: 'max_concurrent' },
  { kind: 'variable', name: 'DEVFLEET_ENGINE', ours: 'claude_engine' },
  { kind: 'variable', name: 'DEVFLEET_CONTEXT_MODE_CMD', ours: 'context_mode_cmd' },
  { kind: 'variable', name: 'DEVFLEET_PROJECTS_DIR', ours: 'projects_dir' },
  { kind: 'variable', name: 'FLEET_DEFAULT_EXECUTOR', ours: 'default_agent' },
  { kind: 'variable', name: 'FLEET_STALE_TIMEOUT', ours: 'stall_after' },
  { kind: 'key', name: 'coder', ours: 'default_agent' },
  { kind: 'key', name: 'model', ours: 'default_model' },
  { kind: 'key', name: 'context_pressure_threshold_pct', ours: 'context_limit' },
]
