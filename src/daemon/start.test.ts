import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openHome } from '../platform/home.ts'
import { start } from './start.ts'

const linkOf = (fd: string): string => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}

test.runIf(process.platform === 'linux')(
  'everything is written to one log: what one writer turns over is not lost to the others',
  async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-start-')))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const home = openHome(root)
    const up = await start(home, { PATH: process.env.PATH }, { port: 0 }, () => {})
    const open = readdirSync('/proc/self/fd').map(linkOf)
    await up.stop()
    expect(open.filter(path => path === join(home.logs, 'server.log'))).toHaveLength(1)
  },
)
