import { STATUS_CODES } from 'node:http'

const policy = (styles: string): string =>
  `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Styles that hide the native scroll bars of Radix's scroll area and select; they cannot have a nonce. */
const RADIX_STYLES = [
  'sha256-vGQdhYJbTuF+M8iCn1IZCHpdkiICocWHDq4qnQF4Rjw=',
  'sha256-441zG27rExd4/il+NvIqyL8zFx5XmyNQtE381kSkUJk=',
]

/** For the dashboard, whose components add a few lines of style. */
export const dashboardPolicy = (nonce: string): string =>
  policy(['self', `nonce-${nonce}`, ...RADIX_STYLES].map(source => `'${source}'`).join(' '))

/** Every answer has them: none may be framed, read by another page, or taken for something else. */
export const SECURITY_HEADERS = {
  'content-security-policy': policy("'self'"),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
}

/** An answer to what is no request that a route could answer. */
export function rawAnswer(status: number, body: object): string {
  const text = JSON.stringify(body)
  const headers = {
    ...SECURITY_HEADERS,
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', text].join('\r\n')
}
