/** Longer answers are not plans. */
const MOST_CHARS = 200_000

/** What a text says: of an answer that is JSON, such as a plan, only the sentences in it. */
export function spoken(text: string): string {
  const trimmed = text.trim()
  if (!/^[{[]/.test(trimmed) || trimmed.length > MOST_CHARS) return text
  try {
    return [...stringsIn(JSON.parse(trimmed))].join('\n')
  } catch {
    return text
  }
}

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) yield* stringsIn(each)
}
