/** Text in a cell of a table: bars and lines would end it, angle brackets would be taken for HTML. */
export const cell = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replace(/\s*\n\s*/g, ' ')

export const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``

export function table(head: string[], rows: string[][]): string {
  if (!rows.length) return ''
  const lines = [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`)
  return lines.join('\n')
}
