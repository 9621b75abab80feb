/**
 * Proves to the server that this browser sends a request. A key, created when the browser signs in and kept in its
 * IndexedDB, signs each request (method, address, time, body). Scripts can use the key but cannot read it, so nothing
 * that is sent, or that another program on this machine sees, can be used again. src/server/proof.ts checks it.
 */
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' }
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' }

/** What the server said about itself: which home, which run, what time. `ahead`: how far its clock is ahead of ours. */
let server = readServer(globalThis.document?.querySelector('meta[name="server"]')?.getAttribute('content') ?? '')
/** The server was away, and may have restarted since. */
let isOld = false
/** @type {Promise<{ device: string, key: CryptoKey | Uint8Array } | undefined> | undefined} */
let mine

function readServer(text) {
  const [home = '', epoch = '', now = '0'] = text.split(' ')
  return { home, epoch, ahead: Number(now) - Date.now() }
}

/** Stores what the server says about itself in an answer. */
export function heedChallenge({ home, epoch, now }) {
  server = { home, epoch, ahead: now - Date.now() }
  isOld = false
}

/** The server did not answer: before signing again, ask whether it is still the same. */
export function serverWasAway() {
  isOld = true
}

/** Whether this browser has a key for this home. */
export const hasKey = async () => (await own()) !== undefined

/**
 * The header for a request; undefined if this browser has no key.
 * @param {string} method
 * @param {string} address
 * @param {string} [body]
 * @returns {Promise<string | undefined>}
 */
export async function proofOf(method, address, body) {
  const signer = await own()
  if (!signer) return undefined
  if (isOld) heedChallenge(await (await fetch('/sign-in/challenge')).json())
  const { pathname, search } = new URL(address, location.href)
  const time = Math.round(Date.now() + server.ahead)
  const nonce = inBase64(crypto.getRandomValues(new Uint8Array(12)))
  const digest = body ? inBase64(await sha256(bytesOf(body))) : ''
  const parts = [server.home, server.epoch, signer.device, time, nonce, method, pathname + search, digest]
  const signature = inBase64(await sign(signer.key, bytesOf(['fleet-proof', ...parts].join('\n'))))
  return `Fleet-Proof ${signer.device}.${time}.${nonce}.${digest}.${signature}`
}

/**
 * Like fetch, with the proof. A request that was signed for an earlier run of the server is signed again, once.
 * @param {string} address
 * @param {Omit<RequestInit, 'headers' | 'body'> & { headers?: Record<string, string>, body?: string }} [options]
 * @param {string} [ready] a proof that was made before
 * @returns {Promise<Response>}
 */
export function provenFetch(address, options = {}, ready = undefined) {
  const { method = 'GET', body } = options
  const send = proof =>
    fetch(address, { ...options, headers: { ...options.headers, ...(proof && { authorization: proof }) } })
  // If the proof is ready, do not wait: a page that is being left runs no further code.
  const first = ready ? send(ready) : proofOf(method, address, body).then(send)
  return first
    .then(async response => {
      if (response.status !== 401) return response
      const { error } = await response
        .clone()
        .json()
        .catch(() => ({}))
      if (error?.code !== 'stale_proof') return response
      heedChallenge(error.challenge)
      return send(await proofOf(method, address, body))
    })
    .catch(error => {
      if (!options.signal?.aborted) serverWasAway()
      throw error
    })
}

/**
 * Creates a key and registers it: with the `token` of a link or of the owner, or with a `name` and a `password`. Throws
 * what the server says. `replace`: also if this browser is signed in as somebody else.
 */
export async function signIn(credential) {
  const { key, given } = await makeKey()
  const body = JSON.stringify({ ...credential, key: given })
  const response = await fetch('/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await formerProof('/sign-in', body)) },
    body,
  })
  const answer = await response.json()
  if (!response.ok) {
    const said = [answer.error.message, answer.error.try].filter(Boolean).join(' ')
    throw Object.assign(new Error(said), { status: response.status })
  }
  await registered(answer.device, key)
}

/** The server knows this browser by this key from now on. */
export async function registered(device, key) {
  await inKeys('readwrite', keys => keys.put({ device, key }, server.home))
  mine = undefined
}

export const serverHome = () => server.home

/** Signs this browser out on the server, and deletes its key. */
export async function signOut() {
  const { ok, status } = await provenFetch('/sign-out', { method: 'POST' })
  if (!ok && status !== 401) throw new Error('The server did not sign this browser out.')
  await inKeys('readwrite', keys => keys.delete(server.home))
  mine = undefined
}

/** The previous key is given up when the new one is registered. */
export async function formerProof(path, body) {
  const authorization = await proofOf('POST', path, body).catch(() => undefined)
  return authorization && { authorization }
}

export async function makeKey() {
  if (crypto.subtle) {
    const pair = await crypto.subtle.generateKey(ALGORITHM, false, ['sign'])
    const point = await crypto.subtle.exportKey('raw', pair.publicKey)
    return { key: pair.privateKey, given: { kind: 'p256', value: inBase64(new Uint8Array(point)) } }
  }
  // Browsers keep keys only for pages from https addresses and from this machine. Elsewhere a secret must do.
  const secret = crypto.getRandomValues(new Uint8Array(32))
  return { key: secret, given: { kind: 'shared', value: inBase64(secret) } }
}

function own() {
  mine ??= inKeys('readonly', keys => keys.get(server.home))
  return mine
}

/** Runs a request on the only object store. */
export function inKeys(mode, ask) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('fleet', 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore('keys')
    opening.onerror = () => reject(new Error('This browser stores nothing for this page, so it cannot be signed in.'))
    opening.onsuccess = () => {
      const db = opening.result
      const transaction = db.transaction('keys', mode)
      const asked = ask(transaction.objectStore('keys'))
      transaction.oncomplete = () => {
        db.close()
        resolve(asked.result)
      }
      transaction.onabort = () => reject(transaction.error)
    }
  })
}

export async function sign(key, bytes) {
  if (!(key instanceof Uint8Array)) return new Uint8Array(await crypto.subtle.sign(SIGNING, key, bytes))
  const { hmac } = await import('./sha256.js')
  return hmac(key, bytes)
}

async function sha256(bytes) {
  if (crypto.subtle) return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return (await import('./sha256.js')).sha256(bytes)
}

export const bytesOf = text => new TextEncoder().encode(text)
export const inBase64 = bytes =>
  btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
