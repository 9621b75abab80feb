import { NotFound } from '../domain/errors.ts'
import type { Agent } from './contract.ts'

/** Replaces an agent whose declaration is gone while one of its sessions exists. Its lines are shown as printed. */
export const undeclared = (name: string): Agent => ({
  name,
  title: name,
  provider: name,
  can: {
    resume: false,
    fork: false,
    liveMessages: 'no',
    interrupt: false,
    turnLimit: 'no',
    budgetLimit: false,
    cost: 'none',
    usage: 'never',
    contextWindow: false,
    approvals: false,
    questions: false,
    presets: [],
    sandboxed: [],
    customTools: false,
    mcp: 'no',
    adopted: true,
    takeOver: false,
    remoteControl: false,
    life: 'processes',
    scripts: false,
    images: false,
    effort: [],
  },
  models: [],
  detect: async () => ({ installed: false, advice: `Declare ${name} in agents.json again.` }),
  launch() {
    throw new NotFound('agent', name, { try: 'Declare it in agents.json again, or give the mission another agent.' })
  },
  read: (line, stream) => (stream === 'sent' || !line.trim() ? [] : [{ type: 'raw', text: line }]),
  outcome: (_digest, { code }) =>
    code === null
      ? { outcome: 'lost', reason: 'The agent ended without anyone recording how.' }
      : { outcome: 'failed', reason: `The agent ${name} is no longer declared, so nobody can tell how it ended.` },
})
