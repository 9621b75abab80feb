import { access } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { TOOL_PRESETS } from '../../domain/records/project.ts'
import type { Agent, Detected, Digest, Ending, Exit } from '../contract.ts'
import { versionOf, which } from '../detect.ts'
import { endedEarly, notLetIn, rateLimited, short } from '../endings.ts'
import { launchGemini, openGemini } from './launch.ts'
import { geminiLedger } from './ledger.ts'
import { readGemini } from './read.ts'

const WHO = {
  title: 'Gemini CLI',
  signIn: 'Sign in: run gemini once and follow it, or set GEMINI_API_KEY where the server is started.',
}

/** The Gemini command-line client, told its prompt once and read in stream-json. */
export const gemini: Agent = {
  name: 'gemini',
  ...WHO,
  provider: 'google',
  can: {
    resume: true,
    fork: false,
    liveMessages: 'no',
    interrupt: false,
    turnLimit: 'outside',
    budgetLimit: false,
    cost: 'priced',
    usage: 'while working',
    contextWindow: true,
    approvals: false,
    questions: false,
    presets: TOOL_PRESETS,
    sandboxed: [],
    customTools: true,
    mcp: 'http',
    adopted: true,
    takeOver: true,
    remoteControl: false,
    life: 'conversation',
    scripts: false,
    effort: [],
  },
  models: [
    { name: 'gemini-3.1-pro-preview', alias: 'pro' },
    { name: 'gemini-3.8-flash', alias: 'flash' },
    { name: 'gemini-3.5-flash-lite', alias: 'flash-lite' },
    { name: 'gemini-2.5-pro' },
    { name: 'gemini-2.5-flash' },
  ],
  detect,
  launch: launchGemini,
  interactive: openGemini,
  read: readGemini,
  ledger: geminiLedger,
  outcome,
}

async function detect(environment: Readonly<Record<string, string | undefined>>): Promise<Detected> {
  const path = await which('gemini', environment)
  if (!path) return { installed: false, advice: 'Install Gemini CLI: npm install -g @google/gemini-cli' }
  const version = await versionOf(path, environment)
  if (!version) return { installed: false, path, advice: `${path} does not answer to --version; install it again.` }
  const signedIn = await isSignedIn(environment)
  return { installed: true, path, version, signedIn, ...(signedIn === undefined && { advice: WHO.signIn }) }
}

const KEYS = ['GEMINI_API_KEY', 'GOOGLE_API_KEY']

/** From what lies open; its credentials are never read. A key may be in a keychain or in a file of variables: nobody can tell. */
async function isSignedIn(environment: Readonly<Record<string, string | undefined>>): Promise<boolean | undefined> {
  if (KEYS.some(name => environment[name])) return true
  const home = environment.GEMINI_CLI_HOME ?? environment.HOME ?? homedir()
  return access(join(home, '.gemini', 'oauth_creds.json')).then(
    () => true,
    () => undefined,
  )
}

/** After a result that is an error, the exit code is the status of HTTP, of which only the last eight bits are left. */
const HTTP = { unauthorized: 401 % 256, forbidden: 403 % 256, rateLimited: 429 % 256 }
const NOT_SIGNED_IN = 41
/** What it was started with is not to be used; a conversation it does not have is the only such thing we could give it. */
const BAD_INPUT = 42
const TURNS_REACHED = 53

function outcome(digest: Digest, { code }: Exit): Ending {
  const { result } = digest
  if (code === null) return { outcome: 'lost', reason: 'The client ended without anyone recording how.' }
  if (code === NOT_SIGNED_IN) return { outcome: 'failed', reason: notLetIn(WHO, { status: 401, why: '' }) }
  // It also exits with 0 when it is asked to end, and then says nothing.
  if (!result) return { outcome: 'failed', reason: endedEarly(digest, code), forgotten: code === BAD_INPUT }
  if (result.ok) {
    if (code === 0) return { outcome: 'completed', reason: 'The agent finished its turn.' }
    return { outcome: 'failed', reason: `The client ended with exit code ${code} after its result.` }
  }
  switch (code) {
    case HTTP.rateLimited:
      return { ...rateLimited(digest), reason: short(`The provider's rate limit was reached. ${result.text}`) }
    case HTTP.unauthorized:
      return { outcome: 'failed', reason: notLetIn(WHO, { status: 401, why: result.text }) }
    case HTTP.forbidden:
      return { outcome: 'failed', reason: notLetIn(WHO, { status: 403, why: result.text }) }
    case TURNS_REACHED:
      return { outcome: 'limited', reason: 'It reached its limit of turns.' }
    default:
      return { outcome: 'failed', reason: short(result.text || digest.lastError || `It ended with exit code ${code}.`) }
  }
}
