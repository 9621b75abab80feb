import { hasKey, provenFetch, signIn } from './proof.js'

const isHere = location.pathname === '/sign-in'
const asked = new URLSearchParams(location.search)
const token = isHere ? asked.get('token') : null
// Keep the secret out of the history, and show a reason only once.
if (isHere) history.replaceState(null, '', '/sign-in')

const say = why => {
  for (const each of document.querySelectorAll('[data-why]')) each.hidden = each.dataset.why !== why
}

/** Goes to the page the person wanted. It is kept for this window only, so no address can lead elsewhere. */
function goOn() {
  const next = sessionStorage.getItem('after-sign-in') ?? '/'
  sessionStorage.removeItem('after-sign-in')
  location.replace(new URL(next, location.origin).origin === location.origin ? next : '/')
}

for (const form of document.forms)
  form.addEventListener('submit', async event => {
    event.preventDefault()
    const problem = form.querySelector('[role=alert]')
    problem.textContent = ''
    const { token, ...credential } = Object.fromEntries(new FormData(form))
    try {
      // Whoever types a secret means it.
      await signIn({ ...(token === undefined ? credential : { token: token.trim() }), replace: true })
      goOn()
    } catch (error) {
      problem.textContent =
        error instanceof TypeError ? 'The server does not answer. Check that it is running.' : error.message
      form.querySelector('[type=password]').select()
    }
  })

async function withLink(replace) {
  try {
    await signIn({ token, replace })
    goOn()
  } catch (error) {
    say(error.status === 409 ? 'another' : 'link')
  }
}

if (token) {
  document.getElementById('switch').addEventListener('click', () => withLink(true))
  await withLink(false)
} else if (!isHere) {
  // Somebody typed the address of an operation: a typed address carries no proof, signed in or not.
  say('program')
} else {
  const isSignedIn = (await hasKey().catch(() => false)) && (await provenFetch('/api/devices')).ok
  if (isSignedIn) goOn()
  else say(document.body.dataset.reason || asked.get('why') || 'lost')
}
