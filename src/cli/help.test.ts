import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { widthOf } from '../platform/safe-text.ts'
import { EXAMPLES } from './examples.ts'
import { EXIT } from './exit.ts'
import { everyCommand, makeProgram } from './program.ts'
import { fleet } from './testing.ts'

const pathOf = (command: Command): string[] => (command.parent ? [...pathOf(command.parent), command.name()] : [])

test.each(everyCommand(makeProgram()).map(command => [pathOf(command)]))(
  'the help of %j fits 80 columns',
  async path => {
    const { out } = await fleet([...path, '--help'])
    // A term with its arguments may be longer than the column for it.
    expect(out.split('\n').filter(line => widthOf(line) > 80 && !/^ +\S.* <.*>/.test(line))).toEqual([])
  },
)

test('help begins with what a newcomer needs, in groups', async () => {
  const { out } = await fleet(['--help'])
  const headings = [...out.matchAll(/^([A-Z][a-z ]+):$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual([
    'Options',
    'Start here',
    'Everyday work',
    'Plan and automate',
    'Projects and agents',
    'Operate',
    'Examples',
    'Exit codes',
  ])
  expect(out).not.toContain('complete ')
})

test.each(Object.values(EXAMPLES).flatMap(each => each.map(([line]) => [line])))('%s is a command', async line => {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!).slice(1)
  const refusing = new Proxy({}, { get: () => new Error('it was asked') })
  const { code, err } = await fleet(words, { cwd: import.meta.dirname, answers: refusing })
  expect([code, err]).not.toEqual([EXIT.usage, expect.stringMatching(/--help/)])
})

test('with --json an error is the last line of standard error, as the REST API says it', async () => {
  const { NotFound } = await import('../domain/errors.ts')
  const answers = { get_mission: new NotFound('mission', 'zz', { try: 'fleet list' }) }
  const refused = await fleet(['show', 'zz', '--json'], { answers })
  expect([refused.code, refused.out]).toEqual([EXIT.state, ''])
  expect(JSON.parse(refused.err)).toEqual({
    error: {
      code: 'not_found',
      message: 'There is no mission "zz".',
      try: 'fleet list',
      what: 'mission',
      id: 'zz',
      exit: EXIT.state,
    },
  })
  const wrong = await fleet(['list', '--nonsense', '--json'])
  expect(wrong.code).toBe(EXIT.usage)
  expect(JSON.parse(wrong.err)).toMatchObject({
    error: { code: 'usage', message: "Unknown option '--nonsense'.", exit: 2 },
  })
  const broken = await fleet(['list', '--json'], { answers: { list_missions: new Error('broken') } })
  expect(JSON.parse(broken.err)).toEqual({ error: { code: 'error', message: 'broken', exit: EXIT.failed } })
})

test('an error of usage reads like every other', async () => {
  expect((await fleet(['nonsense'])).err).toBe("fleet: Unknown command 'nonsense'.\n  Try: fleet --help\n")
  expect((await fleet(['list', '--statu', 'x'])).err).toBe(
    "fleet: Unknown option '--statu'.\n  Try: fleet list --status, or fleet list --help\n",
  )
  expect((await fleet(['show'])).err).toBe("fleet: Missing required argument 'mission'.\n  Try: fleet show --help\n")
})

test.each([
  ['list', 'list_missions', { limit: 50 }],
  ['retry abc -m again', 'retry_mission', { mission_id: 'abc', message: 'again' }],
  ['cancel abc', 'cancel_mission', { mission_id: 'abc' }],
  ['undo abc', 'undo_mission', { mission_id: 'abc' }],
  ['land abc --commit 0123456', 'land_mission', { mission_id: 'abc', expected: '0123456' }],
])('fleet %s is the same as below mission', async (line, operation, input) => {
  const answers = { [operation]: { id: 'abc', title: 'A', status: 'done', waits_for: [], warnings: [], missions: [] } }
  for (const words of [line.split(' '), ['mission', ...line.split(' ')]])
    expect((await fleet(words, { answers })).asked).toEqual([{ operation, input }])
})
