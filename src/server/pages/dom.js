import { provenFetch } from './proof.js'

/** Makes an element. Children are elements or text; text is always shown as text, whatever it contains. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : value)
  }
  made.append(...children.flat().filter(child => child !== undefined && child !== null && child !== ''))
  return made
}

/** Sends a request; a refusal is thrown with the server's sentence. */
export async function ask(path) {
  const response = await provenFetch(path)
  if (response.status === 401) {
    sessionStorage.setItem('after-sign-in', location.pathname + location.search)
    location.replace('/sign-in?why=ended')
    return new Promise(() => {})
  }
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.message)
  return answer
}
