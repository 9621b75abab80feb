/** The tests that drive real clients or stand-ins. The patterns also match new files. */
export const CLIENT_TESTS = [
  'test/{agents,install}/**/*.test.ts',
  'test/fleet/{dispatch/holds,missions/fork,sessions/measures,sessions/talk}.test.ts',
]

const ONLY_CLAUDE = [
  'test/{agents,install}/**/claude*.test.ts',
  'test/fleet/{dispatch/holds,missions/fork,sessions/talk}.test.ts',
]
const OTHER_CLIENTS = [
  'test/{agents,install}/**/{acp,clients,codex,gemini,money,opencode}*.test.ts',
  'test/agents/{driving,idle-memory,inspector,permission-setup,workflow}*.test.ts',
]

const CLAUDE_SDK = ['test/agents/missions/claude-sdk*.test.ts']

/** What a run leaves out, by FLEET_TEST_CLIENTS: clients are heavy, and `npm test` must be fast. */
export const LEFT_OUT: Record<string, string[]> = {
  none: [...ONLY_CLAUDE, ...OTHER_CLIENTS],
  claude: [...OTHER_CLIENTS, ...CLAUDE_SDK],
  all: [],
}
