import { signOut as endSession } from '../../../src/server/pages/proof.js'
import { complain } from '../kit/toasts.tsx'

/** To the page that says how to sign in, and why; from there on to where the person is now. */
export function goToSignIn(why: 'lost' | 'ended'): void {
  sessionStorage.setItem('after-sign-in', location.pathname + location.search)
  location.replace(`/sign-in?why=${why}`)
}

/** Ends this browser's session for good, whoever may have seen what it sent. */
export async function signOut(): Promise<void> {
  try {
    await endSession()
    location.assign('/sign-in?why=ended')
  } catch (error) {
    complain(error)
  }
}
