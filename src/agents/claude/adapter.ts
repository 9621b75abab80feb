import { access } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { TOOL_PRESETS } from '../../domain/records/project.ts'
import type { Agent, Detected, Dialogue, Digest, Ending, Exit } from '../contract.ts'
import { versionOf, which } from '../detect.ts'
import { endedEarly, notLetIn, rateLimited, short } from '../endings.ts'
import { claudeDialogue } from './dialogue.ts'
import { claudeRemote, openClaude } from './hands.ts'
import { launchClaude } from './launch.ts'
import { readClaude } from './read.ts'
import { findSdk, launchClaudeSdk, NO_SDK, SDK_ADVICE } from './sdk.ts'

const WHO = {
  title: 'Claude Code',
  signIn: 'Sign in: run claude once and follow /login, or set ANTHROPIC_API_KEY where the server is started.',
}

/** The Claude Code command-line client, spoken to in stream-json. */
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

async function detect(environment: Readonly<Record<string, string | undefined>>): Promise<Detected> {
  const path = await which('claude', environment)
  if (!path) return { installed: false, advice: 'Install Claude Code: npm install -g @anthropic-ai/claude-code' }
  const version = await versionOf(path, environment)
  if (!version) return { installed: false, path, advice: `${path} does not answer to --version; install it again.` }
  const signedIn = await isSignedIn(environment)
  return signedIn
    ? { installed: true, path, version, signedIn }
    : { installed: true, path, version, signedIn, advice: WHO.signIn }
}

const KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']
const OTHER_CLOUDS = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY']

/** From what lies open; its credentials are never read. Elsewhere (a keychain, a cloud's own account) nobody can tell cheaply. */
async function isSignedIn(environment: Readonly<Record<string, string | undefined>>): Promise<boolean | undefined> {
  if (KEYS.some(name => environment[name])) return true
  if (OTHER_CLOUDS.some(name => environment[name]) || process.platform === 'darwin') return undefined
  const folder = environment.CLAUDE_CONFIG_DIR ?? join(environment.HOME ?? homedir(), '.claude')
  return access(join(folder, '.credentials.json')).then(
    () => true,
    () => false,
  )
}

function outcome(digest: Digest, { code }: Exit): Ending {
  const { result } = digest
  if (code === null) return { outcome: 'lost', reason: 'The client ended without anyone recording how.' }
  if (!result) return { outcome: 'failed', reason: endedEarly(digest, code) }
  if (result.ok) {
    if (code === 0) return { outcome: 'completed', reason: 'The agent finished its turn.' }
    return { outcome: 'failed', reason: `The client ended with exit code ${code} after its last result.` }
  }
  switch (result.reason) {
    case 'error_max_turns':
      return { outcome: 'limited', reason: 'It reached its limit of turns.' }
    case 'error_max_budget_usd':
      return { outcome: 'limited', reason: `It reached its budget: $${digest.usage.cost_usd.toFixed(2)} spent.` }
    case 'http_429':
      return rateLimited(digest)
    case 'http_401':
      return { outcome: 'failed', reason: notLetIn(WHO, { status: 401, why: result.text }) }
    case 'http_403':
      return { outcome: 'failed', reason: notLetIn(WHO, { status: 403, why: result.text }) }
    default:
      return {
        outcome: 'failed',
        reason: short(result.text || digest.lastError || `The client says: ${result.reason}.`),
        // A result of a conversation that never began.
        forgotten: digest.conversation === null,
      }
  }
}
