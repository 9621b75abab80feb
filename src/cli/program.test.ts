import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { everyCommand, makeProgram } from './program.ts'

const shapeOf = (command: Command) =>
  everyCommand(command).map(each => [each.name(), each.aliases(), each.options.map(option => option.flags)])

const whole = makeProgram()
const names = whole.commands.flatMap(command => [command.name(), ...command.aliases()])

test.each(names)('the command %s is the same by itself as in the whole tree', name => {
  const isNamed = (command: Command) => [command.name(), ...command.aliases()].includes(name)
  const alone = makeProgram(name).commands.find(isNamed)!
  expect(shapeOf(alone)).toEqual(shapeOf(whole.commands.find(isNamed)!))
})

test('one command does not bring the others along, except completion, which knows them all', () => {
  const few = (name: string) => makeProgram(name).commands.length < 10
  expect(names.filter(name => !few(name))).toEqual(['completion'])
  expect(shapeOf(makeProgram('nonsense'))).toEqual(shapeOf(whole))
  expect(shapeOf(makeProgram('--json'))).toEqual(shapeOf(whole))
})
