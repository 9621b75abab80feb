import { onTestFinished } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'

// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
export type Heard = any

/** A client of topics, which keeps everything it is told. */
export interface Reader {
  socket: WebSocket
  heard: Heard[]
  say(message: object | string): void
  /** The next message like this that no earlier call returned. */
  hears(part: Heard): Promise<Heard>
  /** The number with which it was closed; 401 and the like if it never opened. */
  over: Promise<number>
}

interface Options {
  token?: string
  ticket?: string
  origin?: string
  path?: string
  headers?: Record<string, string>
}

export function aReader(url: string, { token, ticket, origin, path = '/ws', headers = {} }: Options = {}): Reader {
  const given: ClientOptions = { headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers }, origin }
  const socket = new WebSocket(url.replace('http', 'ws') + path, ticket ? ['fleet', `ticket.${ticket}`] : [], given)
  const heard: Heard[] = []
  const taken = new Set<Heard>()
  let news = Promise.withResolvers<void>()
  const over = new Promise<number>(resolve => {
    socket.on('close', code => resolve(code))
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode!))
  })
  socket.on('error', () => {})
  const tell = () => {
    news.resolve()
    news = Promise.withResolvers()
  }
  socket.on('message', data => {
    heard.push(JSON.parse(data.toString()))
    tell()
  })
  over.then(tell)
  onTestFinished(() => socket.terminate())
  const opened = new Promise<void>(resolve => socket.once('open', () => resolve()))
  return {
    socket,
    heard,
    say: message =>
      void opened.then(() => socket.send(typeof message === 'string' ? message : JSON.stringify(message))),
    async hears(part) {
      for (;;) {
        const found = heard.find(each => !taken.has(each) && matches(each, part))
        if (found) {
          taken.add(found)
          return found
        }
        if (socket.readyState === WebSocket.CLOSED)
          throw new Error(`closed before ${JSON.stringify(part)} came; heard ${JSON.stringify(heard.slice(-5))}`)
        await news.promise
      }
    },
    over,
  }
}

const matches = (whole: Heard, part: Heard): boolean =>
  typeof part === 'object' && part !== null
    ? typeof whole === 'object' && whole !== null && Object.keys(part).every(key => matches(whole[key], part[key]))
    : whole === part
