import { ask } from './dom.js'
import { provenFetch } from './proof.js'

const at = id => document.getElementById(id)
const given = new URLSearchParams(location.search).get('code') ?? ''
at('code').value = given

// Also brings somebody who is not signed in to the sign-in page, and back here.
const me = await ask('/api/me')
at('who').textContent = me.name

async function send(path, body) {
  at('problem').textContent = ''
  try {
    const response = await provenFetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user_code: at('code').value, ...body }),
    })
    const answer = await response.json()
    if (response.ok) return answer
    at('problem').textContent =
      response.status === 404
        ? 'No terminal waits with this code. It may be mistyped or too old: codes last ten minutes and work once.'
        : answer.error.message
  } catch {
    at('problem').textContent = 'The server does not answer. Check that it is running.'
  }
  return undefined
}

at('code-form').addEventListener('submit', async event => {
  event.preventDefault()
  const found = await send('/auth/device/find', {})
  if (!found) return
  at('name').textContent = found.name
  at('address').textContent = found.address
  at('at').textContent = new Date(found.at).toLocaleString()
  at('code').readOnly = true
  at('code-form').querySelector('button').hidden = true
  at('decide').hidden = false
})

for (const [id, allow] of [
  ['allow', true],
  ['deny', false],
])
  at(id).addEventListener('click', async () => {
    if (!(await send('/auth/device/decide', { allow }))) return
    at('decide').hidden = true
    at('outcome').textContent = allow
      ? 'The terminal is signed in. You can close this page; your account lists its token.'
      : 'The terminal was not let in.'
  })
