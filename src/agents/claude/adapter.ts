import { homedir } from 'node:os'
import { join } from 'node:path'
import { TOOL_PRESETS } from '../../domain/records/project.ts'
import type { Agent, Dialogue, Digest, Ending, Exit } from '../contract.ts'
import { detecting, exists } from '../detect.ts'
import { commonEnding, rateLimited, refusedBy, short } from '../endings.ts'
import { claudeDialogue } from './dialogue.ts'
import { claudeRemote, openClaude } from './hands.ts'
import { claudeInTerminal, launchClaude } from './launch.ts'
import { readClaude } from './read.ts'
import { judgeClaude } from './screen.ts'
import { findSdk, launchClaudeSdk, NO_SDK, SDK_ADVICE } from './sdk.ts'

const WHO = {
  title: 'Claude Code',
  signIn: 'Sign in: run claude once and follow /login, or set ANTHROPIC_API_KEY where the server is started.',
}

const INSTALL = 'npm install -g @anthropic-ai/claude-code'

const detect = detecting({
  program: 'claude',
  install: `Install ${WHO.title}: ${INSTALL}`,
  installCommand: INSTALL,
  signIn: WHO.signIn,
  signInCommand: 'claude',
  isSignedIn,
})

/** The Claude Code command-line client, which speaks stream-json. */
const throughCommandLine: Agent = {
  name: 'claude',
  ...WHO,
  provider: 'anthropic',
  can: {
    resume: true,
    fork: true,
    liveMessages: 'mid-turn',
    interrupt: true,
    turnLimit: 'client',
    budgetLimit: true,
    cost: 'money',
    usage: 'while working',
    contextWindow: true,
    approvals: true,
    questions: true,
    presets: TOOL_PRESETS,
    sandboxed: [],
    customTools: true,
    mcp: 'http',
    adopted: true,
    takeOver: true,
    remoteControl: true,
    life: 'conversation',
    scripts: false,
    images: true,
    effort: ['low', 'medium', 'high', 'xhigh', 'max'],
  },
  models: [
    { name: 'claude-opus-5-5', alias: 'opus' },
    { name: 'claude-sonnet-5-5', alias: 'sonnet' },
    { name: 'claude-haiku-5-5', alias: 'haiku' },
  ],
  detect,
  launch: launchClaude,
  interactive: openClaude,
  remote: claudeRemote,
  inTerminal: {
    ...{ launch: claudeInTerminal, judge: judgeClaude, leave: '/exit' },
    ...({ command: '!', namesConversation: true } as const),
  },
  read: readClaude,
  dialogue: claudeDialogue as Dialogue,
  outcome,
}

/** The same client, driven through the Claude Agent SDK inside the server. */
const throughSdk: Agent = {
  ...throughCommandLine,
  title: 'Claude Code through its SDK',
  can: { ...throughCommandLine.can, adopted: false },
  launch: launchClaudeSdk,
  async detect(environment) {
    const client = await detect(environment)
    const sdk = findSdk(environment)
    if (!client.installed) return client
    if (!sdk) return { installed: false, advice: `${NO_SDK} ${SDK_ADVICE}` }
    return { ...client, path: sdk.folder, version: sdk.version }
  },
}

export const claude: Agent = { ...throughCommandLine, engines: { cli: throughCommandLine, sdk: throughSdk } }

const KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']
const OTHER_CLOUDS = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY']

/** Judges by files that exist; credentials are never read. Keychains and cloud accounts cannot be checked cheaply. */
async function isSignedIn(environment: Readonly<Record<string, string | undefined>>): Promise<boolean | undefined> {
  if (KEYS.some(name => environment[name])) return true
  if (OTHER_CLOUDS.some(name => environment[name]) || process.platform === 'darwin') return undefined
  const folder = environment.CLAUDE_CONFIG_DIR ?? join(environment.HOME ?? homedir(), '.claude')
  return exists(join(folder, '.credentials.json'))
}

function outcome(digest: Digest, exit: Exit): Ending {
  const common = commonEnding(digest, exit)
  if (common) return common
  const result = digest.result!
  switch (result.reason) {
    case 'error_max_turns':
      return { outcome: 'limited', reason: 'It reached its limit of turns.' }
    case 'error_max_budget_usd':
      return { outcome: 'limited', reason: `It reached its budget: $${digest.usage.cost_usd.toFixed(2)} spent.` }
    case 'http_429':
      return rateLimited(digest)
    case 'http_401':
      return refusedBy(WHO, 401, result.text)
    case 'http_403':
      return refusedBy(WHO, 403, result.text)
    default:
      return {
        outcome: 'failed',
        reason: short(result.text || digest.lastError || `The client says: ${result.reason}.`),
        // The result belongs to a conversation that never began.
        forgotten: digest.conversation === null,
      }
  }
}
