/** The name of an operation or a code as words, with a capital: reply_mail is "Reply mail". */
export function asWords(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
