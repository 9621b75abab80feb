const form = document.getElementById('sign-in')
const problem = document.getElementById('problem')

if (location.pathname === '/sign-in') {
  document.getElementById('link-problem').hidden = false
  // What did not work is still no business of the history.
  history.replaceState(null, '', '/')
}

form.addEventListener('submit', async event => {
  event.preventDefault()
  problem.textContent = ''
  const { token } = Object.fromEntries(new FormData(form))
  try {
    const response = await fetch('/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: token.trim() }),
    })
    if (response.ok) return location.reload()
    const { error } = await response.json()
    problem.textContent = [error.message, error.try].filter(Boolean).join(' ')
  } catch {
    problem.textContent = 'The server does not answer. Is it up?'
  }
  form.token.select()
})
