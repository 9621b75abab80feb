import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Program } from './program.ts'

/** One thing that the scripted agent does, as lines of its protocol and shell. */
export const say = (text: string): string => line({ kind: 'text', text })
export const think = (text: string): string => line({ kind: 'thinking', text })
export const used = (usd: number, output: number, context: number): string =>
  [
    line({ kind: 'used', in: output * 9, out: output, usd }),
    line({ kind: 'context', used: context, size: 200_000 }),
  ].join('\n')
export const runs = (command: string, script: string): string =>
  [
    `n=$((n + 1)); printf '{"kind":"call","id":"c%s","tool":"Bash","input":${inShell({ command })}}\\n' $n`,
    script,
    `printf '{"kind":"called","id":"c%s","output":"ok"}\\n' $n`,
  ].join('\n')
export const writes = (path: string, content: string): string =>
  [
    `n=$((n + 1)); printf '{"kind":"call","id":"c%s","tool":"Write","input":${inShell({ file_path: path })}}\\n' $n`,
    `mkdir -p "$(dirname '${path}')"; cat > '${path}' <<'END_OF_FILE'\n${content}END_OF_FILE`,
    `printf '{"kind":"called","id":"c%s","output":"Wrote ${path}"}\\n' $n`,
  ].join('\n')

const inShell = (value: object): string => JSON.stringify(value).replaceAll('%', '%%').replaceAll("'", `'"'"'`)
const line = (value: object): string => `cat <<'END_OF_LINE'\n${JSON.stringify(value)}\nEND_OF_LINE`

/**
 * Declares two agents. Helm does what a file says whose key is in its prompt. Pilot speaks the Agent Client Protocol and
 * asks for permission.
 */
export function declareAgents({ root, home }: Program): { does(key: string, ...steps: string[]): void } {
  const helm = join(root, 'helm.sh')
  const pilot = join(root, 'pilot.mjs')
  writeFileSync(helm, HELM)
  writeFileSync(pilot, PILOT)
  const agents = [
    {
      name: 'helm',
      kind: 'custom',
      title: 'Helm',
      command: ['sh', helm, root, '{prompt_file}'],
      arguments: { presets: { full: [], explore: [], review: [] }, resume: ['--resume', '{conversation}'] },
      events: [
        { event: 'started', when: { kind: 'hello' }, conversation: 'thread' },
        { event: 'text', when: { kind: 'text' }, text: 'text' },
        { event: 'thinking', when: { kind: 'thinking' }, text: 'text' },
        { event: 'tool_call', when: { kind: 'call' }, id: 'id', name: 'tool', input: 'input' },
        { event: 'tool_result', when: { kind: 'called' }, id: 'id', output: 'output' },
        {
          event: 'usage',
          when: { kind: 'used' },
          counts: 'more',
          input_tokens: 'in',
          output_tokens: 'out',
          cost_usd: 'usd',
        },
        { event: 'context', when: { kind: 'context' }, used: 'used', window: 'size' },
      ],
    },
    { name: 'pilot', kind: 'acp', title: 'Pilot', command: [process.execPath, pilot], asks: {} },
  ]
  writeFileSync(join(home, 'agents.json'), JSON.stringify({ agents }))
  return {
    does(key, ...steps) {
      writeFileSync(join(root, `${key}.does`), `${steps.join('\n')}\n`)
    },
  }
}

const HELM = `set -eu
root=$1 prompt=$2 n=0
printf '{"kind":"hello","thread":"t-%s"}\\n' $$
for file in "$root"/*.does; do
  key=$(basename "$file" .does)
  if grep -qF -- "$key" "$prompt"; then . "$file"; exit; fi
done
printf '{"kind":"text","text":"Nothing to do."}\\n'
`

const PILOT = `import { createInterface } from 'node:readline'
const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
let prompt
let next = 0
const commands = ['npm run lint', 'npm run deploy -- --dry-run']
const options = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
]
function ask() {
  const command = commands[next]
  if (!command) return send({ id: prompt, result: { stopReason: 'end_turn' } })
  const toolCall = { toolCallId: 'call' + next, title: command, kind: 'execute', status: 'pending', rawInput: { command } }
  const update = { sessionUpdate: 'tool_call', ...toolCall }
  send({ method: 'session/update', params: { sessionId: 's', update } })
  send({ id: next++, method: 'session/request_permission', params: { sessionId: 's', toolCall, options } })
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
  else if (method === 'session/new') send({ id, result: { sessionId: 's' } })
  else if (method === 'session/prompt') {
    prompt = id
    ask()
  } else if (method === undefined) ask()
  else if (id !== undefined) send({ id, result: {} })
}
`
