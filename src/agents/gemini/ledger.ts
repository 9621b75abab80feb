import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Ledger } from '../contract.ts'
import { number, object, parseObject, string, text } from '../json.ts'

const UUID = /^[\da-f]{8}-[\da-f-]{27}$/

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])

/**
 * The client's own file of a conversation, which has each answer at once. Its output reports usage only at the very
 * end, and not at all if it does not get there.
 */
export const geminiLedger: Ledger = {
  find(environment, conversation) {
    if (!UUID.test(conversation)) return undefined
    const folder = join(environment.GEMINI_CLI_HOME ?? environment.HOME ?? homedir(), '.gemini', 'tmp')
    const end = `-${conversation.slice(0, 8)}.jsonl`
    for (const chats of namesIn(folder).map(project => join(folder, project, 'chats'))) {
      const found = namesIn(chats).find(name => name.endsWith(end))
      if (found) return join(chats, found)
    }
    return undefined
  },

  read(line) {
    const said = parseObject(line)
    const tokens = said?.type === 'gemini' ? object(said.tokens) : undefined
    if (!said || !tokens) return { at: '', events: [] }
    const cached = number(tokens.cached)
    const thought = number(tokens.thoughts)
    const model = string(said.model)
    const usage = {
      input_tokens: Math.max(0, number(tokens.input) - cached),
      output_tokens: number(tokens.output) + thought,
      reasoning_tokens: thought,
      cache_read_tokens: cached,
      turns: 1,
    }
    return {
      at: text(said.timestamp),
      events: [
        // An answer is written again when its tools are done.
        { type: 'usage', usage, counts: 'estimate', of: text(said.id), meter: 'ledger', ...(model && { model }) },
        { type: 'context', used: number(tokens.total), window: null, ...(model && { model }) },
      ],
    }
  },
}
