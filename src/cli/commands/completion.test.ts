import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { makeProgram } from '../program.ts'
import { completionScript } from './completion.ts'

/** The words that bash itself offers after these. */
function offered(words: string[]): string[] {
  const script = `${completionScript(makeProgram(), 'bash')}
COMP_WORDS=(fleet "$@"); COMP_CWORD=$#; _fleet; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' })
    .trim()
    .split('\n')
}

test('commands, and those below them', () => {
  expect(offered([''])).toEqual(expect.arrayContaining(['up', 'mission', 'run', 'demo', '--json']))
  expect(offered(['mission', 'de'])).toEqual(['delete'])
  expect(offered(['task', 'li'])).toEqual(['list'])
  expect(offered(['--json', 'project', 's'])).toEqual(['show', 'set'])
})

test('options of the command at hand, and their values', () => {
  expect(offered(['mission', 'list', '--st'])).toEqual(['--status'])
  expect(offered(['mission', 'list', '--status', 're'])).toEqual(['review'])
  expect(offered(['completion', 'z'])).toEqual(['zsh'])
  expect(offered(['down', '--a'])).toEqual(['--agents'])
})

test.each(['bash', 'zsh', 'fish'] as const)('%s knows every command', shell => {
  const script = completionScript(makeProgram(), shell)
  for (const command of makeProgram().commands) expect(script).toContain(command.name())
})
