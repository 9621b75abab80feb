import { describe, expect, test } from 'vitest'
import { propose } from './proposal.ts'
import { chooseAgent, settle } from './settle.ts'

interface Sample {
  names?: string[]
  texts?: Record<string, string>
  ignored?: string[]
  ignores?: string[]
}
const of = ({ names = [], texts = {}, ignored = [], ignores = [] }: Sample) => {
  const { checks, ...rest } = propose({ names: [...names, ...Object.keys(texts)], texts, ignored, ignores })
  return { ...rest, checks: checks.map(({ name, command }) => `${name}: ${command}`) }
}
const packaged = (scripts: object, more: object = {}) => ({ 'package.json': JSON.stringify({ scripts, ...more }) })
const ALL = { test: 'vitest run', lint: 'biome check', typecheck: 'tsc' }

describe('Node', () => {
  test.each([
    ['package-lock.json', 'npm ci', 'npm'],
    ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile', 'pnpm'],
    ['yarn.lock', 'yarn install --frozen-lockfile', 'yarn'],
    ['bun.lock', 'bun install --frozen-lockfile', 'bun'],
    ['bun.lockb', 'bun install --frozen-lockfile', 'bun'],
  ])('%s', (lock, setup_command, manager) => {
    expect(of({ names: [lock], texts: packaged(ALL) })).toEqual({
      setup_command,
      checks: [`lint: ${manager} run lint`, `types: ${manager} run typecheck`, `test: ${manager} run test`],
      copy_files: [],
      because: [`package.json and ${lock}`],
    })
  })

  test('newer Yarn, and no lock file at all', () => {
    const yarn = of({ names: ['yarn.lock'], texts: packaged({}, { packageManager: 'yarn@4.1.0' }) })
    expect(yarn.setup_command).toBe('yarn install --immutable')
    const unlocked = of({ texts: packaged({}, { devDependencies: { vitest: '*' } }) })
    expect(unlocked.setup_command).toBe('npm install --no-package-lock')
    expect(of({ texts: packaged({ test: 'node --test' }) })).toMatchObject({ setup_command: null })
  })

  test('what npm init writes, what never ends and what cannot be read is no check', () => {
    const placeholder = 'echo "Error: no test specified" && exit 1'
    expect(of({ texts: packaged({ test: placeholder, lint: 'eslint --watch' }) }).checks).toEqual([])
    expect(of({ texts: packaged({ test: 'jest --watchAll=false' }) }).checks).toEqual(['test: npm run test'])
    expect(of({ texts: { 'package.json': '{ "scripts": [' } }).checks).toEqual([])
    expect(of({ texts: { 'package.json': '{ "scripts": "none" }' } }).checks).toEqual([])
  })
})

describe('Python', () => {
  const uses = { 'pyproject.toml': '[tool.ruff]\n[dependency-groups]\ndev = ["pytest>=8"]\n' }
  test.each([
    [['uv.lock'], uses, 'uv sync --frozen', ['lint: uv run ruff check .', 'test: uv run pytest']],
    [
      ['poetry.lock'],
      uses,
      'poetry install --no-interaction',
      ['lint: poetry run ruff check .', 'test: poetry run pytest'],
    ],
    [[], { 'pyproject.toml': '[project]\nname = "x"' }, null, []],
    [['setup.py', 'conftest.py'], {}, null, ['test: python3 -m pytest']],
  ])('%j', (names, texts, setup_command, checks) => {
    expect(of({ names, texts })).toMatchObject({ setup_command, checks })
  })

  test('an environment is made only where git ignores it', () => {
    const texts = { 'requirements.txt': 'pytest\nrequests\n' }
    expect(of({ texts, ignores: ['.venv'] })).toMatchObject({
      setup_command: 'python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt',
      checks: ['test: .venv/bin/python -m pytest'],
    })
    expect(of({ texts })).toMatchObject({ setup_command: null, checks: ['test: python3 -m pytest'] })
  })
})

test.each([
  [['Cargo.toml'], ['test: cargo test']],
  [['go.mod'], ['vet: go vet ./...', 'test: go test ./...']],
  [['pom.xml'], ['verify: mvn -q -B verify']],
  [['pom.xml', 'mvnw'], ['verify: ./mvnw -q -B verify']],
  [['build.gradle.kts', 'gradlew'], ['check: ./gradlew check']],
  [['README.md'], []],
])('%j', (names, checks) => {
  expect(of({ names }).checks).toEqual(checks)
})

test('a Makefile is asked where nothing else says how to check', () => {
  const Makefile = 'test := x\n.PHONY: test\nlint:\n\tx\ntest: lint\n\ty\n'
  expect(of({ texts: { Makefile } }).checks).toEqual(['lint: make lint', 'test: make test'])
  expect(of({ texts: { Makefile: `${Makefile}\ncheck : all\n` } }).checks).toEqual(['check: make check'])
  expect(of({ names: ['go.mod'], texts: { Makefile } }).checks).not.toContain('test: make test')
  expect(of({ texts: { Makefile: 'test := x' } }).checks).toEqual([])
})

test('two kinds in one repository: both, and no name twice', () => {
  const both = of({ names: ['package-lock.json', 'Cargo.toml'], texts: packaged({ test: 'vitest run' }) })
  expect(both).toMatchObject({ setup_command: 'npm ci', checks: ['test: npm run test', 'cargo test: cargo test'] })
})

test('own settings that git ignores are copied, and nothing else that it ignores', () => {
  const own = ['.env', 'apps/web/.env.local', '.env.test', '.envrc', 'android/local.properties']
  const others = ['node_modules/', 'dist/', '.env.example', 'x.log', '.environment', 'deep/.env/']
  expect(of({ ignored: [...own, ...others] }).copy_files).toEqual(own)
})

test('what a project already has stays, unless a person insists', () => {
  const proposed = {
    agent: 'claude',
    setup_command: 'npm ci',
    checks: [{ name: 'test', command: 'npm test' }],
    copy_files: [],
  }
  const current = {
    agent: null,
    setup_command: 'make deps',
    checks: [{ name: 'x', command: 'npm test' }],
    copy_files: ['.env'],
  }
  const fates = (force: boolean) => settle(proposed, current, force).map(({ field, what }) => `${field} ${what}`)
  expect(fates(false)).toEqual(['agent set', 'setup_command kept', 'checks same'])
  expect(fates(true)).toEqual(['agent set', 'setup_command replaced', 'checks same'])
  expect(settle(proposed, undefined, false).map(({ what }) => what)).toEqual(['set', 'set', 'set'])
})

test('the agent is one that is installed and signed in', () => {
  const agent = (name: string, installed: boolean, signed_in?: boolean) => ({
    name,
    title: name,
    engine: 'cli',
    installed,
    signed_in,
  })
  const shell = { ...agent('shell', true, true), can: { scripts: true } }
  expect(chooseAgent([shell])).toBeUndefined()
  expect(chooseAgent([shell, agent('claude', true, false), agent('codex', false)])).toBeUndefined()
  expect(chooseAgent([shell, agent('mine', true), agent('gemini', true)])?.name).toBe('gemini')
  expect(chooseAgent([shell, agent('opencode', true, true), agent('claude', true)])?.name).toBe('opencode')
  expect(chooseAgent([agent('codex', true, true), agent('claude', true, true)])?.name).toBe('claude')
})
