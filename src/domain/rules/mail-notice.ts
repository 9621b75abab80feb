import type { Mail } from '../records/team.ts'
import { beforeCursor, endsWith, type Screen, typeable } from './screen.ts'

/** A longer message is read with a tool: clients fold long pastes away, where nobody could check them. */
const MOST_CHARS = 300

const WANTED: Readonly<Record<Mail['needs'], string>> = {
  none: '',
  ack: ', please acknowledge',
  reply: ', wants a reply',
  decision: ', wants a decision',
}

export interface Notice {
  mail: Pick<Mail, 'id' | 'from' | 'needs' | 'subject'>
  body: string
  /** How many more wait. */
  more: number
  /** A script has no tools, but the command of the fleet. */
  tools: boolean
}

/** A message as it is typed into a terminal: one line, quoted, which begins and ends with words of the fleet. */
export function noticeOf({ mail, body, more, tools }: Notice): string {
  const { id, from, needs } = mail
  const subject = typeable(mail.subject)
  const text = typeable(body)
  const isLong = text.length > MOST_CHARS
  const said = JSON.stringify(isLong ? `${text.slice(0, MOST_CHARS)}…` : text)
  const how = tools
    ? 'mail_reply answers it, mail_ack acknowledges it'
    : 'fleet mail reply and fleet mail ack answer it'
  // What was heard and needs no answer is not in the unread mail any more.
  const whole = isLong ? ` ${tools ? 'get_mail' : 'fleet mail show'} ${id} shows all of it.` : ''
  const rest = more ? ` ${tools ? 'mail_read' : 'fleet mail read'} shows ${more} more.` : ''
  return `You have mail: message ${id} from ${from.handle}, ${from.role}${WANTED[needs]}${subject && `, about ${JSON.stringify(subject)}`}: ${said} (${how}).${whole}${rest}`
}

/** Whether somebody who typed has typed exactly this notice so far, whatever it said of others that wait. */
export function endsWithNotice(screen: Screen, notice: Omit<Notice, 'more'>): boolean {
  const typed = beforeCursor(screen)
  const more = Number(/(\d+)\s*more\.\s*$/.exec(typed)?.[1] ?? 0)
  return endsWith(typed, noticeOf({ ...notice, more }))
}
