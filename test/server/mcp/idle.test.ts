import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, NODE, readJson } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

const CLIENTS = 200
/** Code that is loaded and compiled on first use is not a leak. */
const WARM_UP = 40
const MIB = 1024 * 1024
const KIT = join(import.meta.dirname, '../../kit')

const title = `${CLIENTS} idle clients take less than 50 MiB, and leave nothing when they are gone: %s`
test.each(['sse', 'streamable'] as const)(title, async by => {
  const { fleet } = await aScene({ start: false })
  const memory = join(fleet.root, 'memory.json')
  const { url, child } = await fleet.start({
    node: ['--expose-gc', '--import', join(KIT, 'memory-witness.mjs')],
    env: { MEMORY_FILE: memory },
  })
  const address = by === 'sse' ? `${url}/mcp/sse` : `${url}/mcp`
  const alone = connections()
  await gone(await connected(WARM_UP))
  await eventually('the first connections are gone', () => connections() < alone + WARM_UP / 2)
  const before = await measured()
  const clients = await connected(CLIENTS)
  const during = await measured()
  await gone(clients)
  await eventually('the connections are gone', () => connections() <= before.connections)
  const after = await measured()

  console.log(`${by}: ${JSON.stringify({ before, during, after })}`)
  if (by === 'sse') expect(during.connections - before.connections).toBeGreaterThanOrEqual(CLIENTS)
  expect(during.rss - before.rss).toBeLessThan(50 * MIB)
  expect(during.held - before.held).toBeLessThan(50 * MIB)
  expect(after.held).toBeLessThanOrEqual(before.held * 1.05)

  async function connected(count: number): Promise<ChildProcess> {
    const arguments_ = [join(KIT, 'idle-clients.ts'), address, await fleet.fleet.keys.ownerToken(), by, String(count)]
    const process = spawn(NODE, arguments_, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void process.kill('SIGKILL'))
    await once(process.stdout!, 'data')
    return process
  }

  async function gone(process: ChildProcess): Promise<void> {
    const exited = once(process, 'exit')
    process.kill()
    await exited
  }

  async function measured(): Promise<{ held: number; rss: number; connections: number }> {
    rmSync(memory, { force: true })
    child.kill('SIGUSR2')
    await eventually('the witness speaks', () => existsSync(memory))
    return { ...readJson<{ held: number; rss: number }>(memory), connections: connections() }
  }

  /** Sockets only: the server opens files of its own, such as the search index, when it needs them. */
  function connections(): number {
    const folder = `/proc/${child.pid}/fd`
    return readdirSync(folder).filter(name => linkOf(join(folder, name)).startsWith('socket:')).length
  }
})

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // Closed since it was listed.
    return ''
  }
}
