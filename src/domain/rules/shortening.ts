/** The deepest level that is shown. Nobody reads deeper. */
export const MOST_LEVELS = 40
/** The cost of a value besides its characters. */
const EACH = 8

/** The beginning of a text, never half a character. */
export const beginning = (text: string, chars: number): string => {
  const cut = text.slice(0, chars)
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}

/** A JSON value with each field cut to this many characters, and whether anything was cut. */
export function shortened<T extends object>(value: T, charsEach: number): { value: T; cut: boolean } {
  let left = 0
  let cut = false
  const leaveOut = <V>(instead: V): V => {
    cut = true
    return instead
  }
  const show = (part: unknown, level: number): unknown => {
    if (typeof part === 'string') {
      const text = part.length > left ? leaveOut(beginning(part, Math.max(0, left))) : part
      left -= text.length + EACH
      return text
    }
    left -= EACH
    if (typeof part !== 'object' || part === null) return part
    if (level >= MOST_LEVELS) return leaveOut('…')
    if (Array.isArray(part)) {
      const shown: unknown[] = []
      for (const each of part) {
        if (left <= 0) return leaveOut(shown)
        shown.push(show(each, level + 1))
      }
      return shown
    }
    const shown: [string, unknown][] = []
    for (const [name, each] of Object.entries(part)) {
      if (left <= name.length) return leaveOut(Object.fromEntries(shown))
      left -= name.length
      shown.push([name, show(each, level + 1)])
    }
    return Object.fromEntries(shown)
  }
  const fields = Object.entries(value).map(([name, field]) => {
    left = charsEach
    return [name, show(field, 0)]
  })
  return { value: Object.fromEntries(fields), cut }
}
