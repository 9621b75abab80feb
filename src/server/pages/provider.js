import { bytesOf, formerProof, inBase64, inKeys, makeKey, registered, serverHome, sign } from './proof.js'

/** The key of a browser that is on its way to the provider and back. It never leaves the browser. */
const underWay = () => `${serverHome()} provider`

async function answerOf(response) {
  const answer = await response.json()
  if (response.ok) return answer
  throw new Error([answer.error.message, answer.error.try].filter(Boolean).join(' '))
}

const post = async (path, body) =>
  answerOf(
    await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await formerProof(path, body)) },
      body,
    }),
  )

/** Goes to the provider. */
export async function beginWithProvider() {
  const { key, given } = await makeKey()
  const { url, state } = await post('/sign-in/provider', JSON.stringify({ key: given }))
  await inKeys('readwrite', keys => keys.put({ key, state }, underWay()))
  location.assign(url)
}

/** Signs this browser in with what the provider added to the address. */
export async function finishWithProvider(search) {
  const begun = await inKeys('readonly', keys => keys.get(underWay()))
  const state = new URLSearchParams(search).get('state')
  if (!begun || begun.state !== state)
    throw new Error('This sign-in was not begun in this browser. Begin again; if somebody sent you a link, ignore it.')
  await inKeys('readwrite', keys => keys.delete(underWay()))
  const text = ['fleet-provider', serverHome(), state, search].join('\n')
  const signature = inBase64(await sign(begun.key, bytesOf(text)))
  const { device } = await post('/sign-in/provider/finish', JSON.stringify({ search, signature }))
  await registered(device, begun.key)
}
