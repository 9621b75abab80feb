import { hasKey, provenFetch, signIn } from './proof.js'

const form = document.getElementById('sign-in')
const problem = document.getElementById('problem')
const isHere = location.pathname === '/sign-in'
const asked = new URLSearchParams(location.search)
const token = isHere ? asked.get('token') : null
// A secret is no business of the history, and a reason is told once.
if (isHere) history.replaceState(null, '', '/sign-in')

const say = why => {
  for (const each of document.querySelectorAll('[data-why]')) each.hidden = each.dataset.why !== why
}

/** Where the person wanted to go; kept for this window only, so that no address can lead anywhere else. */
function goOn() {
  const next = sessionStorage.getItem('after-sign-in') ?? '/'
  sessionStorage.removeItem('after-sign-in')
  location.replace(next.startsWith('/') && !next.startsWith('//') ? next : '/')
}

form.addEventListener('submit', async event => {
  event.preventDefault()
  problem.textContent = ''
  const { token } = Object.fromEntries(new FormData(form))
  try {
    await signIn(token.trim())
    goOn()
  } catch (error) {
    problem.textContent = error instanceof TypeError ? 'The server does not answer. Is it up?' : error.message
    form.token.select()
  }
})

if (token) {
  try {
    await signIn(token)
    goOn()
  } catch {
    say('link')
  }
} else if (!isHere) {
  // Somebody typed the address of an operation: signed in or not, a typed address carries no proof.
  say('program')
} else {
  const isSignedIn = (await hasKey().catch(() => false)) && (await provenFetch('/api/devices')).ok
  if (isSignedIn) goOn()
  else say(document.body.dataset.reason || asked.get('why') || 'lost')
}
