/**
 * Each opening brace without a closing one costs a search. All these searches together stop after this many characters.
 */
const MAX_LOOKED_AT = 10_000_000

/** Every JSON object in a text, whatever is around it: bare, fenced, or between words. */
export function objectsIn(text: string): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = []
  let lookedAt = 0
  for (let start = text.indexOf('{'); start !== -1 && lookedAt < MAX_LOOKED_AT; ) {
    const end = endOfObject(text, start)
    const object = end === -1 ? undefined : parsed(text.slice(start, end))
    lookedAt += (end === -1 ? text.length : end) - start
    if (object) found.push(object)
    start = text.indexOf('{', object ? end : start + 1)
  }
  return found
}

/** The position after the brace that closes the one at `start`; -1: there is none. */
function endOfObject(text: string, start: number): number {
  let depth = 0
  let quoted = false
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (quoted) {
      if (char === '\\') at++
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) return at + 1
  }
  return -1
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}

export type Found = { answer: Record<string, unknown> } | { problem: string }

/**
 * The answer among all messages, oldest first: the newest message that contains one. The same answer twice counts once.
 * Two different answers count as none, because nobody can tell which is meant.
 */
export function answerIn(messages: readonly string[], isAnswer: (object: Record<string, unknown>) => boolean): Found {
  for (const message of messages.toReversed()) {
    const answers = new Map(
      objectsIn(message)
        .filter(isAnswer)
        .map(each => [JSON.stringify(each), each]),
    )
    if (answers.size > 1) return { problem: `There are ${answers.size} different answers in it.` }
    const [answer] = answers.values()
    if (answer) return { answer }
  }
  return {
    problem: messages.some(each => each.trim())
      ? 'It contains no JSON object that follows the schema.'
      : 'It is empty.',
  }
}
