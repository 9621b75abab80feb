/** What notifications are sent to: a push service, an ntfy server and a mail server, on this machine. */
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, createServer as createTlsSocketServer, TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'
import { ROOT } from './fleet.ts'

export const CERTIFICATE = join(ROOT, 'test/fixtures/localhost-cert.pem')
const TLS = { cert: readFileSync(CERTIFICATE), key: readFileSync(join(ROOT, 'test/fixtures/localhost-key.pem')) }
/** Lets a server trust the certificate above. */
export const TRUSTING = { NODE_EXTRA_CA_CERTS: CERTIFICATE }

interface Heard {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Receiver {
  port: number
  heard: Heard[]
  /** How it answers from now on; null: it keeps the caller waiting. */
  answers(status: number | null): void
  close(): Promise<void>
}

/** Listens on this machine until the test, or `whenOver`, ends it. */
async function listening(server: Server, whenOver = onTestFinished): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  }
  whenOver(close)
  return { port: (server.address() as AddressInfo).port, close }
}

export async function aReceiver(
  { tls = false }: { tls?: boolean } = {},
  whenOver?: (clean: () => Promise<void>) => void,
): Promise<Receiver> {
  const heard: Heard[] = []
  let status: number | null = 200
  const listener: RequestListener = async (request, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    heard.push({ path: request.url!, headers: request.headers, body: Buffer.concat(chunks) })
    if (status !== null) response.writeHead(status, { location: 'http://169.254.169.254/' }).end()
  }
  const server = tls ? createTlsServer(TLS, listener) : createServer(listener)
  const answers = (next: number | null) => {
    status = next
  }
  return { heard, answers, ...(await listening(server, whenOver as never)) }
}

/** The keys that a browser makes for a subscription, and how it reads a message. */
export function aSubscriber(endpoint: string) {
  const pair = createECDH('prime256v1')
  const publicKey = pair.generateKeys()
  const auth = randomBytes(16)
  return {
    subscription: { endpoint, p256dh: publicKey.toString('base64url'), auth: auth.toString('base64url') },
    /** RFC 8291 and RFC 8188, written independently from the library that encrypts. */
    decrypt(body: Buffer): string {
      const salt = body.subarray(0, 16)
      const sender = body.subarray(21, 21 + body[20]!)
      const sealed = body.subarray(21 + body[20]!)
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, sender])
      const secret = Buffer.from(hkdfSync('sha256', pair.computeSecret(sender), auth, info, 32))
      const key = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: aes128gcm\0', 16))
      const nonce = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: nonce\0', 12))
      const opening = createDecipheriv('aes-128-gcm', key, nonce)
      opening.setAuthTag(sealed.subarray(-16))
      const plain = Buffer.concat([opening.update(sealed.subarray(0, -16)), opening.final()])
      return plain.subarray(0, plain.lastIndexOf(2)).toString()
    },
  }
}

/** Whether the header proves that the holder of this key sent it to this service, as RFC 8292 says. */
export function isFrom(publicKey: string, authorization: string, origin: string): boolean {
  const [, token = '', key] = /^vapid t=([^,]+), ?k=(.+)$/.exec(authorization) ?? []
  const [head = '', claims = '', signature = ''] = token.split('.')
  const point = Buffer.from(publicKey, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map(part => part.toString('base64url'))
  const verifier = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const said = JSON.parse(Buffer.from(claims, 'base64url').toString())
  return (
    key === publicKey &&
    said.aud === origin &&
    verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      { key: verifier, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    )
  )
}

export interface Mail {
  from: string
  to: string
  data: string
  encrypted: boolean
  user: string | undefined
}

interface MailServer {
  port: number
  mails: Mail[]
  /** Whether it says from now on that it took a mail. */
  answers(does: boolean): void
}

/** A small SMTP server: with TLS from the first byte, after STARTTLS, or without. */
export async function aMailServer({
  security,
  accepts = true,
}: {
  security: 'tls' | 'starttls' | 'none'
  accepts?: boolean
}): Promise<MailServer> {
  const mails: Mail[] = []
  let isSilent = false
  const talk = (socket: Socket, encrypted: boolean, greet: boolean): void => {
    let [from, to, data, text] = ['', '', '', '']
    let user: string | undefined
    let isData = false
    const say = (line: string) => socket.write(`${line}\r\n`)
    const obey = (line: string): void => {
      if (isData) {
        if (line !== '.') data += `${line}\n`
        else {
          isData = false
          if (accepts) mails.push({ from, to, data, encrypted, user })
          if (!isSilent) say(accepts ? '250 2.0.0 Ok: queued as 4F2A' : '550 5.7.1 We do not want this')
        }
      } else if (/^EHLO/i.test(line)) {
        say('250-localhost')
        if (security === 'starttls' && !encrypted) say('250-STARTTLS')
        if (encrypted) say('250-AUTH PLAIN')
        say('250 8BITMIME')
      } else if (/^STARTTLS/i.test(line) && security !== 'starttls') say('502 5.5.1 Not implemented')
      else if (/^STARTTLS/i.test(line)) {
        say('220 go ahead')
        socket.removeAllListeners('data')
        talk(new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(TLS) }), true, false)
      } else if (/^AUTH PLAIN/i.test(line)) {
        user = Buffer.from(line.slice(11), 'base64').toString().split('\0')[1]
        say(user === 'nobody' ? '535 5.7.8 Authentication failed' : '235 ok')
      } else if (/^MAIL FROM/i.test(line)) {
        from = line.slice(10)
        say('250 ok')
      } else if (/^RCPT TO/i.test(line)) {
        to = line.slice(8)
        say('250 ok')
      } else if (/^DATA/i.test(line)) {
        isData = true
        say('354 go on')
      } else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
      else say('250 ok')
    }
    socket.on('error', () => {})
    socket.on('data', chunk => {
      text += chunk.toString()
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end)
        text = text.slice(end + 2)
        obey(line)
      }
    })
    if (greet) say('220 localhost ESMTP')
  }
  const server =
    security === 'tls'
      ? createTlsSocketServer(TLS, socket => talk(socket, true, true))
      : createSocketServer(socket => talk(socket, false, true))
  const answers = (does: boolean) => {
    isSilent = !does
  }
  return { mails, answers, port: (await listening(server)).port }
}
