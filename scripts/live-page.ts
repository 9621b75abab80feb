import { TOPICS } from '../src/operations/topics.ts'
import { CLOSED, SOCKET_LIMITS } from '../src/server/socket-limits.ts'
import { Said, Told } from '../src/server/topic-messages.ts'
import { cell, code, table } from './markdown.ts'
import { fieldTable, schemaOf } from './schema-tables.ts'

const CLOSE_CODES: Record<keyof typeof CLOSED, string> = {
  goingAway: 'the server stops; connect again with your last cursors',
  misused: 'the terminal of a mission was sent something it does not understand',
  broken: 'something went wrong inside the server; the refusal before it has an id that is in the log',
  badMessage: 'a message was binary, not JSON, too long or not one of those above',
  signedOut: 'the browser was signed out, or the session has ended whose token this was',
  refused: 'access to a topic ended; for the terminal of a mission: it cannot be opened',
  tooSlow: 'too much was unread for too long',
  replaced: 'the terminal of a mission was opened in another window',
  tooMany: 'too many messages, or too many connections',
}

const kib = (bytes: number): string => `${bytes / 1024} KiB`

function limits(): string {
  const its = SOCKET_LIMITS
  return table(
    ['limit', 'value', 'beyond it'],
    [
      ['connections of one caller', its.mostOfOne, 'closed with 4429'],
      ['connections in all', its.mostOpen, 'refused with 429'],
      ['topics of a connection', its.mostTopics, 'the topic is refused'],
      ['topics of all connections of one caller', its.mostTopicsOfOne, 'the topic is refused'],
      ['length of a message', kib(its.maxMessageBytes), 'closed with 4400; far beyond it with 1009'],
      ['messages and topics a second', `${its.messagesPerSecond}, and ${its.burst} at once`, 'closed with 4429'],
      ['unread', kib(its.maxUnreadBytes), `after ${its.slowMs / 1000} s \`gap\`, after ${its.stuckMs / 1000} s 4408`],
      ['time between pings', `${its.pingMs / 1000} s`, 'a peer that did not answer the last one is dropped'],
    ].map(row => row.map(String)),
  )
}

const messages = (all: typeof Said | typeof Told, isInput: boolean): string[] =>
  all.options.map(option => {
    const { properties, required } = schemaOf(option, isInput ? 'input' : 'output')
    const { type, ...fields } = properties!
    return `### ${String(type!.const)}\n\n${option.description}.\n\n${fieldTable({ properties: fields, required }, isInput)}`
  })

export function livePage(): string {
  return [
    'Messages on the WebSocket `/ws`: [how to use it](../guides/live.md). Each is one JSON object in a text message, and `type` says which.',
    '## Topics',
    table(
      ['topic', 'what it brings'],
      Object.entries(TOPICS).map(([name, about]) => [code(name), cell(about)]),
    ),
    'Other topics, such as `member:` and `host:`, are refused: they do not exist yet.',
    '## What you send',
    ...messages(Said, true),
    '## What you are sent',
    'On the topic `claude-fleet`, messages have the `type` and the fields of that tool instead of `event`, and `topic` and `cursor`.',
    ...messages(Told, false),
    '## Limits',
    limits(),
    '## Close codes',
    'A `refused` with the reason in words comes before those from 4400 on, except that to a page with a terminal.',
    table(
      ['code', 'meaning'],
      (Object.keys(CLOSED) as (keyof typeof CLOSED)[]).map(name => [String(CLOSED[name]), cell(CLOSE_CODES[name])]),
    ),
  ].join('\n\n')
}
