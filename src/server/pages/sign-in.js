import { hasKey, provenFetch, signIn } from './proof.js'

const isBack = location.pathname === '/sign-in/provider'
const isHere = location.pathname === '/sign-in' || isBack
const answered = isBack ? location.search.slice(1) : ''
const asked = new URLSearchParams(location.search)
const token = isHere && !isBack ? asked.get('token') : null
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

const { provider, passwords } = document.body.dataset
if (provider) {
  const button = document.getElementById('provider')
  button.textContent = `Sign in with ${provider}`
  button.addEventListener('click', () => withProvider(async () => (await providers()).beginWithProvider()))
  document.getElementById('with-provider').hidden = false
}
if (passwords === 'off') document.getElementById('with-password').hidden = true
const providers = () => import('./provider.js')

async function withProvider(step) {
  try {
    await step()
  } catch (error) {
    document.querySelector('[data-why=provider]').textContent =
      error instanceof TypeError ? 'The server does not answer. Check that it is running.' : error.message
    say('provider')
  }
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

if (isBack && answered) {
  await withProvider(async () => {
    await (await providers()).finishWithProvider(answered)
    goOn()
  })
} else if (token) {
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
