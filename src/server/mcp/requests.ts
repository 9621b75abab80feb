import { randomUUID } from 'node:crypto'

interface Reply {
  id: string | number
  result?: Record<string, unknown>
}

/**
 * Requests to clients on open streams that are not answered yet. The answer comes in a request of its own, and is found
 * by its id. A server that dies takes its open streams with it, so nothing is kept for the next one.
 */
export class OpenRequests {
  readonly #open = new Map<string | number, (reply: Reply) => void>()

  /** Whether this message answers one of them. */
  take(message: unknown): boolean {
    const { id, method } = (message ?? {}) as { id?: string | number; method?: string }
    const answered = method === undefined && id !== undefined ? this.#open.get(id) : undefined
    answered?.(message as Reply)
    return answered !== undefined
  }

  /** The result. Undefined: the client refused, or the signal was first, and the request is cancelled. */
  async ask(
    send: (message: object) => Promise<void>,
    method: string,
    params: object,
    signal: AbortSignal,
  ): Promise<Record<string, unknown> | undefined> {
    const id = `fleet-${randomUUID()}`
    const { promise, resolve } = Promise.withResolvers<Reply | undefined>()
    const giveUp = () => resolve(undefined)
    this.#open.set(id, resolve)
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await send({ jsonrpc: '2.0', id, method, params })
      const reply = signal.aborted ? undefined : await promise
      if (!reply) await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
      return reply?.result
    } finally {
      this.#open.delete(id)
      signal.removeEventListener('abort', giveUp)
    }
  }
}

/** The session id of a client that can show forms begins with this, because the client says so only once. */
const SHOWS_FORMS = 'forms-'
export const newSessionId = (): string => `${SHOWS_FORMS}${randomUUID()}`
export const sessionShowsForms = (id: unknown): boolean => typeof id === 'string' && id.startsWith(SHOWS_FORMS)

/** Whether a client with these capabilities can show a form. One that only opens addresses cannot. */
export function declaresForms(capabilities: unknown): boolean {
  const { elicitation } = (capabilities ?? {}) as { elicitation?: { form?: object; url?: object } }
  return !!elicitation && (!!elicitation.form || !elicitation.url)
}
