import { homedir } from 'node:os'
import { join } from 'node:path'
import { TOOL_PRESETS } from '../../domain/records/project.ts'
import type { Agent, Digest, Ending, Exit } from '../contract.ts'
import { detecting, exists } from '../detect.ts'
import { commonEnding, rateLimited, refusedBy, short } from '../endings.ts'
import { launchGemini, openGemini } from './launch.ts'
import { geminiLedger } from './ledger.ts'
import { readGemini } from './read.ts'

const WHO = {
  title: 'Gemini CLI',
  signIn: 'Sign in: run gemini once and follow it, or set GEMINI_API_KEY where the server is started.',
}

const INSTALL = 'npm install -g @google/gemini-cli'

const detect = detecting({
  program: 'gemini',
  install: `Install ${WHO.title}: ${INSTALL}`,
  installCommand: INSTALL,
  signIn: WHO.signIn,
  signInCommand: 'gemini',
  isSignedIn,
})

/** The Gemini command-line client. It gets its prompt once and prints stream-json. */
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
    images: true,
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

const KEYS = ['GEMINI_API_KEY', 'GOOGLE_API_KEY']

/**
 * Judges by files that exist; credentials are never read. A key may be in a keychain or in a file of variables, so
 * nobody can tell.
 */
async function isSignedIn(environment: Readonly<Record<string, string | undefined>>): Promise<boolean | undefined> {
  if (KEYS.some(name => environment[name])) return true
  const home = environment.GEMINI_CLI_HOME ?? environment.HOME ?? homedir()
  return (await exists(join(home, '.gemini', 'oauth_creds.json'))) || undefined
}

/** After an error the exit code is the HTTP status, of which only the last eight bits are left. */
const HTTP = { unauthorized: 401 % 256, forbidden: 403 % 256, rateLimited: 429 % 256 }
const NOT_SIGNED_IN = 41
/** Its arguments are invalid. The only argument of ours that can be is a conversation it does not have. */
const BAD_INPUT = 42
const TURNS_REACHED = 53

function outcome(digest: Digest, exit: Exit): Ending {
  const { code } = exit
  if (code === NOT_SIGNED_IN) return refusedBy(WHO, 401, '')
  // It also exits with 0 when it is asked to end, and then prints no result.
  const common = commonEnding(digest, exit, code === BAD_INPUT)
  if (common) return common
  const result = digest.result!
  switch (code) {
    case HTTP.rateLimited:
      return { ...rateLimited(digest), reason: short(`The provider's rate limit was reached. ${result.text}`) }
    case HTTP.unauthorized:
      return refusedBy(WHO, 401, result.text)
    case HTTP.forbidden:
      return refusedBy(WHO, 403, result.text)
    case TURNS_REACHED:
      return { outcome: 'limited', reason: 'It reached its limit of turns.' }
    default:
      return { outcome: 'failed', reason: short(result.text || digest.lastError || `It ended with exit code ${code}.`) }
  }
}
