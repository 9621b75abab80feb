/**
 * Files that take long: races with many servers, searches for counterexamples, the commands in the documentation, and
 * other tools beside the fleet. `npm run test:long` and .ci/run run them.
 */
export const LONG_TESTS = [
  'src/git/private/person-settings.test.ts',
  'test/cli/{as,demo,service}.test.ts',
  'test/docs/run-blocks.test.ts',
  'test/cli/silent-server.test.ts',
  'test/agents/declared.test.ts',
  'test/daemon/{at-once,faults,idle,leaks,odd-homes,supervising}.test.ts',
  'test/fleet/{beads/beads,landing/busy-base,worktrees/isolation,worktrees/large,worktrees/warm}.test.ts',
  'test/fleet/metrics/metrics.test.ts',
  'test/fleet/{projects/configuration,sessions/measures,takeover/page-terminal}.test.ts',
  'test/fleet/plugins/{plugin-agents,shipped-plugins}.test.ts',
  'test/fleet/pull-requests/pull-request.test.ts',
  'test/fleet/review/review-property.test.ts',
  'test/fleet/{teams,terminals}/*.test.ts',
  'test/fleet/previews/side-processes.test.ts',
  'test/fleet/{loops/loop,workflows/workflows}.test.ts',
  'test/git/{trees,warm}.test.ts',
  'test/operations/walk.test.ts',
  'test/server/{mcp/idle,people-attacks,topics}.test.ts',
  'test/store/damaged-store.test.ts',
  'test/backup/*.test.ts',
]
