/**
 * What a client printed, unchecked. Each field is read by hand as `unknown`, without generated types: the client may
 * have any version, a field may be missing or of another kind, and nothing may throw. Generated types (Codex's
 * `app-server generate-ts`, the schema of `@agentclientprotocol/sdk`) are large and fit one version only.
 * `test/agents/wire-names.test.ts` compares the names we use with them, so that a rename is noticed.
 */
export type Json = Record<string, unknown>

/** No client nests its output deeper. Much deeper JSON can be read but not written again. */
const MOST_LEVELS = 500

/** The JSON object in a line; undefined: it is something else. */
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
