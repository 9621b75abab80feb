import { complain } from '../kit/toasts.tsx'

/** Forgets this browser; what it would ask for next is the page that says how to sign in. */
export async function signOut(): Promise<void> {
  try {
    const { ok } = await fetch('/sign-out', { method: 'POST' })
    if (!ok) throw new Error('The server did not sign this browser out.')
    location.assign('/')
  } catch (error) {
    complain(error)
  }
}
