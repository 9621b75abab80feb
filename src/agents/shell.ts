import { NotAllowed } from '../domain/errors.ts'
import type { Agent, Digest, Ending, Exit, Launch, LaunchRequest } from './contract.ts'
import { which } from './detect.ts'
import { pick } from './environment.ts'
import { besides } from './presets.ts'
import { judgeScript } from './screens.ts'

const OWNER_MAY_RUN = 0o700
const LAST_WORDS_CHARS = 500

/** Runs a mission's prompt as a script, if its author named this agent for that text. It needs no account. */
export const shell: Agent = {
  name: 'shell',
  title: 'Shell script',
  provider: 'shell',
  can: {
    resume: false,
    fork: false,
    liveMessages: 'no',
    interrupt: false,
    turnLimit: 'no',
    budgetLimit: false,
    cost: 'free',
    usage: 'never',
    contextWindow: false,
    approvals: false,
    questions: false,
    presets: ['full'],
    sandboxed: besides(['full']),
    customTools: false,
    mcp: 'no',
    adopted: true,
    takeOver: false,
    remoteControl: false,
    life: 'processes',
    scripts: true,
    images: false,
    effort: [],
  },
  models: [],

  async detect(environment) {
    const path = await which('sh', environment)
    return path
      ? { installed: true, path, signedIn: true }
      : { installed: false, advice: 'There is no sh on the PATH.' }
  },

  launch,
  inTerminal: { launch, judge: judgeScript, leave: 'exit' },

  read: (line, stream) =>
    stream === 'stdout' ? [{ type: 'text', text: line }] : stream === 'stderr' ? [{ type: 'raw', text: line }] : [],

  outcome,
}

function launch(request: LaunchRequest): Launch {
  refuseLimits(request)
  const file = `${request.directory}/script`
  return {
    argv: request.script.startsWith('#!') ? [file] : ['sh', file],
    env: pick(request.environment, ['HOME', 'PATH']),
    files: { script: { content: request.script, mode: OWNER_MAY_RUN } },
    stdin: 'none',
  }
}

function refuseLimits({ preset, allowedTools }: LaunchRequest) {
  if (preset === 'full' && !allowedTools) return
  throw new NotAllowed(
    allowedTools
      ? 'A shell script cannot be held to a list of tools.'
      : `A shell script cannot be held to the preset ${preset}.`,
    { try: 'Use the preset full and no list of tools, or an agent that can be held to it, such as claude.' },
  )
}

function outcome(digest: Digest, { code }: Exit): Ending {
  if (code === null) return { outcome: 'lost', reason: 'The script ended without anyone recording how.' }
  if (code === 0) return { outcome: 'completed', reason: 'The script finished.' }
  // Standard error comes first: a failing script says there why.
  const last = (digest.lastRaw || digest.lastText).trim().slice(-LAST_WORDS_CHARS)
  const how = code > 128 ? `Ended by signal ${code - 128} (exit code ${code})` : `Exited with code ${code}`
  return { outcome: 'failed', reason: last ? `${how}: ${last}` : `${how}.` }
}
