import { afterEach, beforeEach, expect, test } from 'vitest'
import { aFleet, type TestFleet } from '../kit/fleet.ts'

let fleet: TestFleet
let pid: number
let url: string
beforeEach(async () => {
  fleet = await aFleet()
  const started = await fleet.start()
  pid = started.child.pid!
  url = started.url
})
afterEach(async () => {
  process.kill(pid, 'SIGCONT')
  await fleet.remove()
})

const stopped = (...args: string[]) => {
  process.kill(pid, 'SIGSTOP')
  return fleet.fleetCommand(args)
}

test('status tells a server that hangs from one that is up', async () => {
  const up = await fleet.fleetCommand(['status'])
  expect(up.stdout).toContain('The fleet is up')
  expect(up.code).toBe(0)

  const { code, stdout, stderr } = await stopped('status')
  expect(stdout).not.toContain('The fleet is up')
  expect(stdout).toContain(`The server (process ${pid}) holds the home but has not answered for 3 s`)
  expect(stdout + stderr).toContain(`kill -CONT ${pid}`)
  expect(stdout, 'what the store says is shown all the same').toContain('Missions')
  expect(code).toBe(5)

  const asData = await fleet.fleetCommand(['status', '--json'])
  expect(JSON.parse(asData.stdout)).toMatchObject({ server: { pid, answers: false }, missions: {} })
  expect(asData.code).toBe(5)

  process.kill(pid, 'SIGCONT')
  expect(JSON.parse((await fleet.fleetCommand(['status', '--json'])).stdout)).toMatchObject({
    server: { answers: true },
  })
}, 60_000)

test('doctor finds it', async () => {
  const { code, stdout } = await stopped('doctor')
  expect(stdout).toMatch(new RegExp(`✗ server .*process ${pid}.*has not answered for 3 s`))
  expect(stdout).toContain(`kill -CONT ${pid}`)
  expect(code).toBe(1)
}, 60_000)

test('up says that it cannot be reached, in the background and in the open', async () => {
  for (const args of [['up', '--detach'], ['up']]) {
    const { code, stdout, stderr } = await stopped(...args)
    expect(stderr, args.join(' ')).toContain(`The server (process ${pid}) holds the home but has not answered for 3 s`)
    expect(stderr).toContain(`kill -CONT ${pid}`)
    expect(stdout).not.toContain('http://')
    expect(code).toBe(5)
  }
}, 60_000)

test('a server at an address that does not answer is told of too', async () => {
  const { code, stderr } = await stopped('--url', url, 'status')
  expect(stderr).toMatch(/has not answered for \d+ s/)
  expect(code).toBe(5)
}, 60_000)
