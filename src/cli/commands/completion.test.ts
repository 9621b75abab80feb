import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { makeProgram } from '../program.ts'
import { fleet } from '../testing.ts'
import { completionScript } from './completion.ts'

/** The words that bash itself offers after these. `fleet complete` is answered by this function. */
function offered(words: string[], complete = 'false'): string[] {
  const script = `${completionScript(makeProgram(), 'bash')}
fleet() { ${complete}; }
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

test('missions, projects, agents and questions are asked for where a command takes one', () => {
  const answering = `[ "$1" = complete ] && case $2 in
    missions) printf '4f2abc\\tA title\\n4g5def\\t\\n' ;; projects) printf 'shop\\t/work/shop\\n' ;; agents) echo claude ;;
  esac`
  expect(offered(['land', '4f'], answering)).toEqual(['4f2abc'])
  expect(offered(['mission', 'show', ''], answering)).toEqual(expect.arrayContaining(['4f2abc', '4g5def', '--checks']))
  expect(offered(['land', '--'], answering)).not.toContain('4f2abc')
  expect(offered(['list', '--project', 's'], answering)).toEqual(['shop'])
  expect(offered(['run', '--agent', ''], answering)).toEqual(['claude'])
  expect(offered(['mission', 'create', 'x', '--after', '4g'], answering)).toEqual(['4g5def'])
})

test('only plain words reach a shell', async () => {
  const projects = [
    { name: 'shop', path: '/work/shop' },
    { name: '$(touch x)', path: '/' },
  ]
  const { out } = await fleet(['complete', 'projects'], { answers: { list_projects: { projects } } })
  expect(out).toBe('shop\t/work/shop\n')
})

test.each(['bash', 'zsh', 'fish'] as const)('%s knows every command', shell => {
  const script = completionScript(makeProgram(), shell)
  for (const command of makeProgram().commands.filter(each => each.name() !== 'complete'))
    expect(script).toContain(command.name())
})

test('an agent with two engines is offered once', async () => {
  const agents = [
    { name: 'claude', title: 'Claude Code' },
    { name: 'claude', title: 'Claude Code through its SDK' },
    { name: 'codex', title: 'Codex' },
  ]
  const { out } = await fleet(['complete', 'agents'], { answers: { list_agents: { agents } } })
  expect(out).toBe('claude\tClaude Code\ncodex\tCodex\n')
})
