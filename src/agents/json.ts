/** What a client printed, before anyone has looked at it. */
export type Json = Record<string, unknown>

/** A line as the JSON object it is; undefined: it is something else. */
export function parseObject(line: string): Json | undefined {
  try {
    return object(JSON.parse(line))
  } catch {
    return undefined
  }
}

export const object = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const string = (value: unknown): string | null => (typeof value === 'string' ? value : null)
export const text = (value: unknown): string => string(value) ?? ''
export const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)
