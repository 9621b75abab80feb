import { afterEach, expect, test } from 'vitest'
import { aToldClient, type ToldClient } from '../kit/told-client.ts'

const QUIET = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
}

let opencode: ToldClient
afterEach(() => opencode.remove())

test('the real OpenCode knows the fleet', async () => {
  opencode = aToldClient('opencode', QUIET)
  await opencode.fleet('mcp', 'install', 'opencode', '--allow', '--skill')
  const { stdout, stderr } = await opencode.run('mcp', 'list')
  expect(stdout + stderr).toMatch(/✓ flotilla.*connected.*fleet mcp.*1 server/s)
})
