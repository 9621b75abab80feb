import { signOut as endSession } from '../../../src/server/pages/proof.js'
import { complain } from '../kit/toasts.tsx'

/** Goes to the sign-in page, which says why, and afterwards back to the current page. */
export function goToSignIn(why: 'lost' | 'ended'): void {
  sessionStorage.setItem('after-sign-in', location.pathname + location.search)
  location.replace(`/sign-in?why=${why}`)
}

/** Ends this browser's session for good. */
export async function signOut(): Promise<void> {
  try {
    await endSession()
    location.assign('/sign-in?why=ended')
  } catch (error) {
    complain(error)
  }
}
