/** Sends one notification over its channel, once, and says what happened. Retries are the reactor's. */
import { connect, isIP } from 'node:net'
import { isLetIn, type PushSubscription } from '../../domain/records/device.ts'
import type { Email, Notification, NotificationSettings } from '../../domain/records/notification.ts'
import { type Answered, isPrivate, postOnce, publicOnly, refused, Unheard } from '../../platform/posting.ts'
import type { Fleet } from '../fleet.ts'

export interface Outcome {
  ok: boolean
  /** A sentence for people. */
  said: string
  /** Whether another try may help. */
  again?: boolean
  /** The push service no longer knows this browser. */
  gone?: boolean
}

const LIMIT_MS = 15_000
/** For a whole mail: a server that says a little all the time is never silent. */
const MAIL_LIMIT_MS = 60_000
/** Push services keep a message this long for a browser that is switched off. */
const KEPT_SECONDS = 24 * 60 * 60
/** Push services want to know whom to complain to. This says who wrote the program, not who runs it. */
const SENDER = 'https://www.npmjs.com/package/flotilla'

export async function deliver(
  fleet: Fleet,
  settings: NotificationSettings,
  notification: Notification,
  { mailLimitMs = MAIL_LIMIT_MS } = {},
): Promise<Outcome> {
  try {
    if (notification.channel === 'push') return await push(fleet, settings, notification)
    if (notification.channel === 'ntfy') return await ntfy(settings, notification)
    return await email(fleet, settings, notification, mailLimitMs)
  } catch (error) {
    const { message, again = true } = error as Error & { again?: boolean }
    return { ok: false, said: error instanceof Unheard ? message : `Not reached: ${message}`, again }
  }
}

/** The push service learns nothing but an id; the browser asks this server for the words, as the person. */
async function push(fleet: Fleet, { push: { allow_private } }: NotificationSettings, { id, device_id }: Notification) {
  const device = (await fleet.store.get('devices', device_id!))?.value
  if (!isLetIn(device, fleet.now()) || !device.push)
    return { ok: false, said: 'This browser gets no messages any more.' }
  const { endpoint, p256dh, auth } = device.push
  const problem = endpointProblem(device.push, allow_private)
  if (problem) return { ok: false, said: problem }
  const { generateRequestDetails } = await import('./push-and-mail.ts')
  const { headers, body } = generateRequestDetails({ endpoint, keys: { p256dh, auth } }, JSON.stringify({ id }), {
    vapidDetails: { subject: SENDER, ...(await fleet.keys.pushKey()) },
    contentEncoding: 'aes128gcm',
    TTL: KEPT_SECONDS,
    urgency: 'high',
    // A second copy replaces the first, as long as the browser has not received it.
    topic: id,
  })
  const answer = await postOnce({
    url: endpoint,
    body: body!,
    headers: headers as Record<string, string>,
    allowPrivate: allow_private,
    limitMs: LIMIT_MS,
  })
  if (answer.status === 404 || answer.status === 410)
    return { ok: false, gone: true, said: `The push service does not know this browser any more (${answer.status}).` }
  return heard('The push service', answer)
}

/** Why nothing may be sent there: the address came from a browser. */
export function endpointProblem(
  { endpoint }: Pick<PushSubscription, 'endpoint'>,
  allowPrivate: boolean,
): string | undefined {
  const url = URL.parse(endpoint)
  if (url?.protocol !== 'https:' || url.username || url.password) return 'A push service needs an https address.'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (!allowPrivate && (host === 'localhost' || (isIP(host) && isPrivate(host)))) return refused(host).message
  return undefined
}

async function ntfy(settings: NotificationSettings, notification: Notification): Promise<Outcome> {
  const { url, token, allow_private } = settings.ntfy
  const topic = topicOf(url)
  if (!topic) return { ok: false, said: 'The address of the ntfy topic is not complete.' }
  const { title, text, link } = wordsOf(settings, notification)
  const answer = await postOnce({
    url: topic.server,
    body: JSON.stringify({ topic: topic.name, title, message: text, ...(link && { click: link }), priority: 4 }),
    // From ntfy 2.16 on, a second copy replaces the first.
    headers: { 'x-sequence-id': notification.id, ...(token && { authorization: `Bearer ${token}` }) },
    allowPrivate: allow_private,
    limitMs: LIMIT_MS,
  })
  return heard('ntfy', answer)
}

/** The server and the topic in an address such as https://ntfy.sh/topic. */
export function topicOf(address: string): { server: string; name: string } | undefined {
  const url = URL.parse(address)
  const name = url && /^\/([\w-]{1,64})\/?$/.exec(url.pathname)?.[1]
  if (!name || !/^https?:$/.test(url.protocol) || url.username || url.search) return undefined
  return { server: url.origin, name }
}

function heard(who: string, { status, text }: Answered): Outcome {
  if (status >= 200 && status < 300) return { ok: true, said: `${who} accepted it.` }
  const why =
    status === 401 || status === 403
      ? ' It does not accept the credentials.'
      : status === 429
        ? ' Too many messages.'
        : ''
  const words = text.replace(/\s+/g, ' ').trim().slice(0, 200)
  return {
    ok: false,
    said: `${who} answered ${status}.${why}${words ? ` It said: ${words}` : ''}`,
    again: status === 429 || status >= 500,
  }
}

async function email(
  fleet: Fleet,
  settings: NotificationSettings,
  notification: Notification,
  limitMs: number,
): Promise<Outcome> {
  const { host, port, security, user, password, from, to, allow_private } = settings.email
  if (!host || !from || !to) return { ok: false, said: 'The mail server, the sender or the recipient is missing.' }
  const { title, text, link } = wordsOf(settings, notification)
  const { createTransport } = await import('./push-and-mail.ts')
  const socket = await connected(settings.email)
  const tooLong = new Promise<never>((_, reject) => {
    // It also ends a connection that stays open after the mail was accepted.
    setTimeout(() => {
      socket.destroy()
      reject(new Unheard('The mail server took too long.', true))
    }, limitMs).unref()
  })
  const transport = createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    connection: socket,
    ...(user && { auth: { user, pass: password } }),
    ...{ connectionTimeout: LIMIT_MS, greetingTimeout: LIMIT_MS, socketTimeout: LIMIT_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  try {
    const sent = transport.sendMail({
      from,
      to,
      subject: `${title}: ${notification.about || 'Flotilla'}`,
      text: link ? `${text}\n\n${link}\n` : `${text}\n`,
      // A mail program shows two copies with the same id as one.
      messageId: `<${notification.id}@${fleet.home.id}.flotilla>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
    const { response } = await Promise.race([sent, tooLong])
    return { ok: true, said: `The mail server accepted it: ${response.slice(0, 200)}` }
  } catch (error) {
    if (error instanceof Unheard) throw error
    const { message, code, responseCode = 0 } = error as Error & { code?: string; responseCode?: number }
    const again = code !== 'EAUTH' && responseCode < 500
    return { ok: false, said: `The mail server refused: ${message.slice(0, 300)}`, again }
  } finally {
    transport.close()
  }

  /** Connected here, so that the address is checked when it is used. */
  function connected({ host, port }: Email): Promise<ReturnType<typeof connect>> {
    if (!allow_private && isIP(host) && isPrivate(host)) return Promise.reject(refused(host))
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, ...(!allow_private && { lookup: publicOnly as never }) })
      socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error('the mail server does not answer')))
      socket.once('connect', () => resolve(socket))
      socket.once('error', reject)
    })
  }
}

/** What a message says outside this server. */
export function wordsOf({ details, page_address }: NotificationSettings, { title, about, detail, path }: Notification) {
  const text = [about, ...(details && detail ? [detail] : [])].filter(Boolean).join('\n\n') || title
  return { title, text, link: page_address && new URL(path, page_address).href }
}
