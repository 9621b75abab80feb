/** Text in a table cell: bars and line breaks would end it, and angle brackets would be read as HTML. */
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
