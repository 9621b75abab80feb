/** A command of the terminal, or an option of one. */
const COMMAND = /\bfleet [a-z<-]|(^|\s)--[a-z]/

/** The server writes advice for people at a terminal. The page leaves out sentences with commands: it has buttons. */
export function adviceForPage(advice: string | undefined): string | undefined {
  const rest = advice?.split(/(?<=[.!?])\s+/).filter(sentence => !COMMAND.test(sentence))
  return rest?.length ? rest.join(' ') : undefined
}
