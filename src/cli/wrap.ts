import { widthOf } from '../platform/safe-text.ts'

/** The lines of a text at most so wide, broken between words. A word that is wider stays whole. */
export function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap(line => {
    const lines: string[] = []
    let current = ''
    for (const word of line.split(' ')) {
      const longer = current ? `${current} ${word}` : word
      if (current && widthOf(longer) > width) {
        lines.push(current)
        current = word
      } else current = longer
    }
    return [...lines, current]
  })
}
