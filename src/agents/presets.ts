import { TOOL_PRESETS, type ToolPreset } from '../domain/records/project.ts'

/** What an agent may use under a preset, in words that suit every client. */
export interface Preset {
  name: ToolPreset
  summary: string
  tools: readonly Tool[]
  /** The commands that the shell may run, by how they start. `null`: any. */
  commands: readonly string[] | null
}

export const TOOLS = ['Read', 'Write', 'Edit', 'Bash', 'Grep', 'Glob', 'WebFetch', 'WebSearch'] as const
export type Tool = (typeof TOOLS)[number]

const LOOK: readonly Tool[] = ['Read', 'Grep', 'Glob', 'Bash']
const WORK: readonly Tool[] = ['Read', 'Write', 'Edit', 'Bash', 'Grep', 'Glob']

// Subcommands that only read. All of `git` would let an explorer push or reset, and all of `find` delete.
const GIT_LOOKS = ['git diff', 'git log', 'git show', 'git status', 'git blame', 'git ls-files']

const TEST_RUNNERS = [
  ...['npm test', 'npm run test', 'pnpm test', 'pnpm run test', 'yarn test', 'yarn run test', 'bun test', 'deno test'],
  ...['node --test', 'npx vitest', 'npx jest', 'npx mocha', 'npx playwright test'],
  ...[
    'pytest',
    'python -m pytest',
    'python3 -m pytest',
    'python -m unittest',
    'python3 -m unittest',
    'uv run pytest',
    'tox',
  ],
  ...['cargo test', 'go test', 'dotnet test', 'swift test', 'mix test', 'ctest', 'make test', 'make check'],
  ...['mvn test', 'gradle test', './gradlew test', './mvnw test', 'rspec', 'bundle exec rspec', 'rake test'],
  ...['phpunit', 'vendor/bin/phpunit', 'composer test'],
]

export const PRESETS: Readonly<Record<ToolPreset, Preset>> = {
  full: { name: 'full', summary: 'Everything, without asking', tools: TOOLS, commands: null },
  implement: { name: 'implement', summary: 'Read, change and run; no web', tools: WORK, commands: null },
  fix: { name: 'fix', summary: 'The same as implement', tools: WORK, commands: null },
  review: {
    name: 'review',
    summary: 'Read, and look at what changed; changes nothing',
    tools: LOOK,
    commands: ['git diff', 'git log'],
  },
  test: {
    name: 'test',
    summary: 'Read, change existing files and run tests (which are code: they can do what any program can)',
    tools: ['Read', 'Edit', 'Grep', 'Glob', 'Bash'],
    commands: TEST_RUNNERS,
  },
  explore: {
    name: 'explore',
    summary: 'Read, and look around with git and ls; changes nothing',
    tools: LOOK,
    commands: [...GIT_LOOKS, 'ls'],
  },
}

/** Whether a preset restricts commands as well as tools. Then nothing in the repository may give them back. */
export const isRestricting = (preset: Preset): boolean => preset.commands !== null

/** The presets that the sandbox adds for a client that can run under `full`, as it does inside. */
export const besides = (held: readonly ToolPreset[]): ToolPreset[] =>
  held.includes('full') ? TOOL_PRESETS.filter(preset => !held.includes(preset)) : []

/** Under these presets an agent only reads: inside the sandbox it can change nothing that is kept. */
export const changesNothing = (preset: ToolPreset): boolean => !PRESETS[preset].tools.includes('Edit')
