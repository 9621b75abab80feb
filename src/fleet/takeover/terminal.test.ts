import { readdirSync, readlinkSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { Terminal, type Viewer } from './terminal.ts'

/** How many terminals this process has open. */
const openTerminals = (): number =>
  readdirSync('/proc/self/fd').filter(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).endsWith('/ptmx')
    } catch {
      return false
    }
  }).length

test.skipIf(process.platform !== 'linux')(
  'a client that let go of its terminal and has not ended can be resized and typed to',
  async () => {
    const viewer = { show: vi.fn<Viewer['show']>(), exited: vi.fn<Viewer['exited']>(), replaced: vi.fn() }
    // It survives the hang-up that follows, and ends once it is told.
    const script = `trap '' HUP; trap 'exit 3' TERM; echo $$; exec < /dev/null > /dev/null 2>&1; while :; do sleep 0.05; done`
    const program = { argv: ['/bin/sh', '-c', script], cwd: '/', environment: { PATH: process.env.PATH } }
    const before = openTerminals()
    const terminal = await Terminal.start(program, { columns: 80, rows: 24 })
    terminal.attach(viewer)
    await vi.waitFor(() => expect(viewer.show).toHaveBeenCalled(), 10_000)
    const pid = Number(viewer.show.mock.calls[0]![0].toString())
    await vi.waitFor(() => expect(openTerminals()).toBe(before), 10_000)
    terminal.resize({ columns: 90, rows: 24 })
    expect(terminal.type(Buffer.from('x'))).toBe(true)
    expect(viewer.exited).not.toHaveBeenCalled()
    process.kill(pid, 'SIGTERM')
    await vi.waitFor(() => expect(viewer.exited).toHaveBeenCalledWith(3), 10_000)
  },
)
