/**
 * Whole files that take long by their nature: races with many servers, searches for counterexamples, what the
 * documentation tells people to type, other tools beside the fleet. `npm run test:long` runs them, and .ci/run does.
 */
export const LONG_TESTS = [
  'src/git/private/person-settings.test.ts',
  'test/docs/run-blocks.test.ts',
  'test/{at-once,busy-base,leaks,mcp-idle,supervising}.test.ts',
  'test/{review-property,trees}.test.ts',
  'test/{backup,damaged-store,isolation,odd-homes,restoring}.test.ts',
  'test/{beads,plugin-agents,pull-request,shipped-plugins}.test.ts',
]
