import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestFleet } from './fleet.ts'

export interface Planner {
  /** Its next answers, in order; the last one is repeated. */
  says(...answers: string[]): void
  /** A shell line that it runs before it answers. */
  first(line: string): void
  /** The prompts it received. */
  told(): string[]
  /** The arguments it was started with each time. */
  startedWith(): string[]
}

/** Declares an agent that plans by reading answers from files. It can be resumed, and reports its cost. */
export function aPlanner({ root, fleet }: Pick<TestFleet, 'root' | 'fleet'>): Planner {
  const folder = join(root, 'planner')
  mkdirSync(folder, { recursive: true })
  const script = join(folder, 'planner.sh')
  writeFileSync(script, SCRIPT)
  writeFileSync(join(folder, 'first'), '')
  const agent = {
    name: 'planner',
    kind: 'custom',
    command: ['sh', script, folder, '{prompt_file}'],
    arguments: { presets: { explore: ['--look'], full: [] }, resume: ['--resume', '{conversation}'] },
    events: [
      { event: 'started', when: { kind: 'hello' }, conversation: 'thread' },
      { event: 'usage', when: { kind: 'bill' }, counts: 'more', cost_usd: 'usd' },
    ],
  }
  writeFileSync(join(fleet.home.path, 'agents.json'), JSON.stringify({ agents: [agent] }))
  const numbered = (prefix: string): string[] =>
    readdirSync(folder)
      .filter(name => name.startsWith(prefix))
      .toSorted((a, b) => Number(a.slice(prefix.length)) - Number(b.slice(prefix.length)))
      .map(name => readFileSync(join(folder, name), 'utf8'))
  const asked = (): number => (existsSync(join(folder, 'count')) ? numbered('told-').length : 0)
  return {
    says(...answers) {
      const before = asked()
      for (const [index, answer] of answers.entries())
        writeFileSync(join(folder, `answer-${before + index + 1}`), answer)
      writeFileSync(join(folder, 'answer-last'), answers.at(-1) ?? '')
    },
    first: line => writeFileSync(join(folder, 'first'), line),
    told: () => numbered('told-'),
    startedWith: () => numbered('arguments-'),
  }
}

const SCRIPT = `set -eu
folder=$1 prompt=$2
shift 2
echo '{"kind":"hello","thread":"t-1"}'
n=$(($(cat "$folder/count" 2>/dev/null || echo 0) + 1))
echo $n > "$folder/count"
cp "$prompt" "$folder/told-$n"
echo "$*" > "$folder/arguments-$n"
. "$folder/first"
answer=$folder/answer-$n
[ -e "$answer" ] || answer=$folder/answer-last
if [ "$(cat "$answer")" = fails ]; then exit 1; fi
cat "$answer"
echo
echo '{"kind":"bill","usd":0.25}'
`

/** Instead of an answer: it ends with an error. */
export const FAILS = 'fails'

interface Step {
  key: string
  script: string
  after?: string[]
  [setting: string]: unknown
}

/** A valid answer: missions that are shell scripts. */
export const planOf = (...steps: Step[]): string =>
  JSON.stringify({
    summary: 'A plan.',
    missions: steps.map(({ key, script, after = [], ...more }) => ({
      key,
      title: `make ${key}`,
      prompt: script,
      acceptance_criteria: `${key} is there`,
      depends_on: after,
      agent: 'shell',
      estimate_minutes: 10,
      estimate_usd: 0.5,
      ...more,
    })),
  })

export const COMPLETE = JSON.stringify({ complete: true, reason: 'I looked: every file is there.', missions: [] })
