/** What a person is completing: a file after @, or a command at the beginning. */
export interface Completing {
  kind: 'file' | 'command'
  /** Where the sign is. */
  from: number
  /** What follows it, up to the cursor. */
  text: string
}

export function completingAt(text: string, cursor: number): Completing | undefined {
  const before = text.slice(0, cursor)
  const [, command] = /^\/([\w. -]*)$/.exec(before) ?? []
  if (command !== undefined) return { kind: 'command', from: 0, text: command }
  const [found, file] = /(?:^|\s)@([^\s@]*)$/.exec(before) ?? []
  if (found === undefined || file === undefined) return undefined
  return { kind: 'file', from: cursor - file.length - 1, text: file }
}

/** The text with the completed part, and where the cursor is then. */
export function completed(text: string, cursor: number, { from }: Completing, by: string) {
  const rest = text.slice(cursor)
  const put = by + (rest.startsWith(' ') ? '' : ' ')
  return { text: text.slice(0, from) + put + rest, cursor: from + by.length + 1 }
}

export const COMMANDS = [
  { name: 'plan', about: 'An agent proposes missions for a bigger goal' },
  { name: 'script', about: 'Run the text as a shell script' },
] as const

/** The command that a text begins with. Anything else that begins with a slash is for the agent. */
export function commandIn(text: string): { name: 'plan' | 'script' | 'run'; text: string } {
  const [, name, rest = ''] = /^\/(plan|script)\s+(.+)$/s.exec(text.trim()) ?? []
  return name ? { name: name as 'plan' | 'script', text: rest.trim() } : { name: 'run', text: text.trim() }
}
