import { sandboxState } from '../../src/runner/sandbox.ts'

const { works, problem } = await sandboxState(process.env)
if (!works) console.warn(`Skipped: what needs the sandbox. ${problem}`)

/** Whether bubblewrap works on this machine; if not, the reason is printed. */
export const SANDBOX_WORKS = works
