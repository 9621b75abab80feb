import './theme.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { hasKey } from '../../src/server/pages/proof.js'
import { ask, Refused } from './api/client.ts'
import { queryClient, startFollowing } from './live/data.ts'
import { ME, whoAmI } from './live/me.ts'
import { Appearance } from './shell/appearance.tsx'
import { Shell } from './shell/shell.tsx'
import { goToSignIn } from './shell/sign-out.ts'

// Some components add a few styles, which the content security policy allows only with this nonce.
setNonce(document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '')
void begin()

/**
 * Asks for the cursor of the events first, so that everything read later is at least as new. The page itself contains
 * no data.
 */
async function begin(): Promise<void> {
  if (!(await hasKey().catch(() => false))) return goToSignIn('lost')
  // Asked together, so that knowing who it is costs no time, and nothing appears that then goes away.
  const [from, me] = await Promise.all([
    ask('list_events', { limit: 1 }).then(
      ({ cursor }) => cursor,
      error => (error instanceof Refused && error.status === 401 ? undefined : ''),
    ),
    whoAmI().catch(() => undefined),
  ])
  if (from === undefined) return goToSignIn('ended')
  if (me) queryClient.setQueryData(ME, me)
  startFollowing(from)
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Appearance>
          <Shell />
        </Appearance>
      </QueryClientProvider>
    </StrictMode>,
  )
}
