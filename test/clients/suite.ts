/** Where real clients, and stand-ins for those that cannot be had, are driven. Files that come later are found by it. */
export const CLIENT_TESTS = [
  'test/agents/*.test.ts',
  'test/*-{install,mission}.test.ts',
  'test/{declared-agents,fork,holds,measures,talk}.test.ts',
]

const ONLY_CLAUDE = ['test/agents/claude*.test.ts', 'test/claude-*.test.ts', 'test/{fork,holds,talk}.test.ts']
const OTHER_CLIENTS = [
  'test/agents/{acp,codex,driving,gemini,idle-memory,inspector,opencode,workflow}*.test.ts',
  'test/{acp,clients,codex,gemini,money,opencode}-*.test.ts',
]

const CLAUDE_SDK = ['test/claude-sdk*.test.ts']

/** What a run leaves out, by FLEET_TEST_CLIENTS: clients are heavy, and `npm test` is to be quick. */
export const LEFT_OUT: Record<string, string[]> = {
  none: [...ONLY_CLAUDE, ...OTHER_CLIENTS],
  claude: [...OTHER_CLIENTS, ...CLAUDE_SDK],
  all: [],
}
