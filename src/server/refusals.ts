import { InvalidInput, oneOf, Refusal, Unavailable } from '../domain/errors.ts'

/** Refusals that only a server can give. */
export class UnsupportedMedia extends Refusal {
  readonly code = 'unsupported_media_type'
  readonly status = 415
  readonly exit = 2
  constructor() {
    super('A body must be JSON.', { try: 'Send the header Content-Type: application/json.' })
  }
}

export class TooLarge extends Refusal {
  readonly code = 'too_large'
  readonly status = 413
  readonly exit = 2
  constructor(limitBytes: number) {
    super(`A body may have at most ${limitBytes} bytes.`, { facts: { limit_bytes: limitBytes } })
  }
}

export class NoSuchAddress extends Refusal {
  readonly code = 'not_found'
  readonly status = 404
  readonly exit = 4
  constructor(method: string, path: string) {
    super(`There is nothing at ${method} ${path}.`, { try: 'GET /api/openapi.json lists every address.' })
  }
}

export class MethodNotAllowed extends Refusal {
  readonly code = 'method_not_allowed'
  readonly status = 405
  readonly exit = 4
  constructor(method: string, path: string, allowed: string[]) {
    super(`${path} does not take ${method}; it takes ${oneOf(allowed)}.`, { facts: { allowed } })
  }
}

export class TooSlow extends Refusal {
  readonly code = 'too_slow'
  readonly status = 408
  readonly exit = 4
  constructor() {
    super('You read too slowly.', { try: 'Connect again, and subscribe with your last cursors.' })
  }
}

export class NotHttp extends Refusal {
  readonly code = 'invalid_input'
  readonly status: number
  readonly exit = 2
  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** A refusal of Node's own server, which cannot read a request. */
export function notHttp({ code }: { code?: string }): NotHttp {
  if (code === 'HPE_HEADER_OVERFLOW') return new NotHttp('The headers of this request are too long.', 431)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new NotHttp('This request took too long to arrive.', 408)
  return new NotHttp('This is not HTTP.', 400)
}

/** The server cannot listen where it was told to. */
export class CannotListen extends Refusal {
  readonly code = 'cannot_listen'
  readonly status = 503
  readonly exit = 1
}

/** Somebody asks too often, or holds too much at once. */
export class TooMany extends Refusal {
  readonly code = 'too_many'
  readonly status = 429
  readonly exit = 4
  constructor(message: string, retrySeconds = 1) {
    super(message, { try: `Wait ${retrySeconds} s.`, facts: { retry_after_seconds: retrySeconds } })
  }
}

/** Signed for another run of this server, or at another time. The answer has what a page needs to sign again. */
export class StaleProof extends Refusal {
  readonly code = 'stale_proof'
  readonly status = 401
  readonly exit = 4
  constructor(challenge: { home: string; epoch: string; now: number }) {
    super('This was not signed for this server at this time.', { try: 'Reload the page.', facts: { challenge } })
  }
}

/** It is unknown whether the request was carried out. With the same idempotency key it can be sent again. */
class StoreUnavailable extends Refusal {
  readonly code = 'store_unavailable'
  readonly status = 503
  readonly exit = 1
  constructor({ message, hint = 'Check whether it happened before you ask again.' }: Unavailable) {
    super(message, { try: hint, facts: { retry_after_seconds: 2 } })
  }
}

interface FrameworkError extends Error {
  code: string
  statusCode?: number
}

/** A refusal of the web framework in our words; undefined for an unexpected error. */
export function asRefusal(error: unknown, bodyLimit: number): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (error instanceof Unavailable) return new StoreUnavailable(error)
  const { code, statusCode } = error as FrameworkError
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new UnsupportedMedia()
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new TooLarge(bodyLimit)
  if (code === 'FST_ERR_BAD_URL') return new InvalidInput('path', 'is not a valid address')
  if (statusCode === 400) return new InvalidInput('body', 'is not valid JSON', { try: 'Send one JSON object.' })
  return undefined
}

export function errorBody(refusal: Refusal): { error: Record<string, unknown> } {
  const { facts, code, message, hint } = refusal
  return { error: { code, message, ...(hint && { try: hint }), ...facts } }
}
