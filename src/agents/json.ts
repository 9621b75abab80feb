/** What a client printed, before anyone has looked at it. */
export type Json = Record<string, unknown>

/** Deeper than any client nests what it says; what is much deeper can be read, and not be written down again. */
const MOST_LEVELS = 500

/** A line as the JSON object it is; undefined: it is something else. */
export function parseObject(line: string): Json | undefined {
  try {
    return isDeep(line) ? undefined : object(JSON.parse(line))
  } catch {
    return undefined
  }
}

function isDeep(json: string): boolean {
  let level = 0
  for (let at = 0; at < json.length; at++) {
    const char = json[at]
    if (char === '"') at = endOfString(json, at)
    else if (char === '[' || char === '{') level++
    else if (char === ']' || char === '}') level--
    if (level > MOST_LEVELS) return true
  }
  return false
}

function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json[end - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return end
  }
  return json.length
}

export const object = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const string = (value: unknown): string | null => (typeof value === 'string' ? value : null)
export const text = (value: unknown): string => string(value) ?? ''
export const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)
