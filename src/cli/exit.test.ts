import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { Ambiguous, InvalidInput, NotFound, Unfit, Unreachable, WrongState } from '../domain/errors.ts'
import { EXIT, EXIT_HELP, exitOfMission } from './exit.ts'
import { fleet } from './testing.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
function folder(): string {
  folders.push(mkdtempSync(join(tmpdir(), 'fleet-cli-')))
  return folders.at(-1)!
}

test('help names every exit code', async () => {
  const { code, out } = await fleet(['--help'])
  expect(code).toBe(0)
  for (const each of Object.values(EXIT)) expect(EXIT_HELP).toMatch(new RegExp(`^ +${each} +\\S`, 'm'))
  expect(out).toContain(EXIT_HELP)
})

test.each([
  [['nonsense']],
  [['mission', 'nonsense']],
  [['mission', 'show']],
  [['mission', 'list', '--nonsense']],
  [['mission', 'list', '--status', 'nonsense']],
  [['mission', 'create', 'x', '--preset', 'nonsense']],
  [['run', 'x', '--turns', 'many']],
  [['up', '--port', 'here']],
  [['call', 'list_missions', '{']],
  [['call', 'list_missions', '[]']],
  [['mission', 'create', '@/does/not/exist']],
])('%j is wrong usage', async args => {
  const { code, err, asked } = await fleet(args)
  expect(code).toBe(EXIT.usage)
  expect(err).not.toBe('')
  expect(asked.filter(each => each.operation.startsWith('create'))).toEqual([])
})

test.each([
  [new NotFound('mission', 'zz'), EXIT.state],
  [new WrongState('Mission', 'zz', 'done', ['draft']), EXIT.state],
  [new Ambiguous('mission', 'z', [{ id: 'za' }, { id: 'zb' }]), EXIT.state],
  [new InvalidInput('title', 'is missing'), EXIT.usage],
  [new Unfit('git is too old.', { try: 'Update git.' }), EXIT.failed],
  [new Unreachable('Nobody answers.'), EXIT.unreachable],
  [new Error('nobody expected this'), EXIT.failed],
])('%s', async (error, code) => {
  const ran = await fleet(['mission', 'show', 'zz'], { answers: { get_mission: error } })
  expect(ran.code).toBe(code)
  expect(ran.err).toContain(error instanceof InvalidInput ? 'The title is missing.' : error.message)
  expect(ran.err).not.toContain('    at ')
})

test('a refusal says what to do next', async () => {
  const { err } = await fleet(['mission', 'show', 'zz'], {
    answers: { get_mission: new NotFound('mission', 'zz', { try: 'fleet list' }) },
  })
  expect(err).toBe('fleet: There is no mission "zz".\n  Try: fleet list\n')
})

test('how a mission ended', () => {
  const exit = (status: string) => exitOfMission({ status })
  expect([exit('done'), exit('failed'), exit('review'), exit('needs_input'), exit('cancelled')]).toEqual([
    0, 1, 3, 3, 130,
  ])
})

test('without a server at the address that was named', async () => {
  const { code, err } = await fleet(['mission', 'list', '--url', 'http://127.0.0.1:1'], {
    real: true,
    env: { FLEET_HOME: folder(), FLEET_TOKEN: 'x' },
  })
  expect(code).toBe(EXIT.unreachable)
  expect(err).toContain('Try: fleet up --detach')
})

test('a refusal over http is the same refusal', async () => {
  const told = { code: 'invalid_input', message: 'limit: too much', try: 'Ask for less.', field: 'limit' }
  const server = createServer((_, response) =>
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: told })),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, err } = await fleet(['mission', 'list', '--url', url], {
      real: true,
      env: { FLEET_HOME: folder(), FLEET_TOKEN: 'x' },
    })
    expect(code).toBe(EXIT.usage)
    expect(err).toBe('fleet: Limit: too much.\n  Try: Ask for less.\n')
  } finally {
    server.close()
  }
})

test('something else answers at that address', async () => {
  const server = createServer((_, response) => response.writeHead(404).end('<h1>not here</h1>'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code } = await fleet(['mission', 'list', '--url', url], {
      real: true,
      env: { FLEET_HOME: folder(), FLEET_TOKEN: 'x' },
    })
    expect(code).toBe(EXIT.unreachable)
  } finally {
    server.close()
  }
})
