import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readJson, type TestFleet } from './fleet.ts'

const SCRIPT = `sed -nE 's/^(> )?do: //p' "$1" > "$2/todo" && exec sh "$2/todo"\n`

/** Declares coding agents that read their prompt as prose, and carry out the lines that begin with \`do: \`, also in mail. */
export function aWorker({ root, fleet }: Pick<TestFleet, 'root' | 'fleet'>, ...names: string[]): void {
  const script = join(root, 'worker.sh')
  writeFileSync(script, SCRIPT)
  const agents: object[] = ['worker', ...names].map(name => ({
    name,
    kind: 'custom',
    command: ['sh', script, '{prompt_file}', '{directory}'],
    arguments: { model: ['{model}'], presets: { full: [], review: [], explore: [] } },
  }))
  const file = join(fleet.home.path, 'agents.json')
  const declared = existsSync(file) ? readJson<{ agents: object[] }>(file).agents : []
  writeFileSync(file, JSON.stringify({ agents: [...agents, ...declared] }))
}
