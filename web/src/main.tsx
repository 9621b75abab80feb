import './theme.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { hasKey } from '../../src/server/pages/proof.js'
import { ask, Refused } from './api/client.ts'
import { queryClient, startFollowing } from './live/data.ts'
import { Appearance } from './shell/appearance.tsx'
import { Shell } from './shell/shell.tsx'
import { goToSignIn } from './shell/sign-out.ts'

// Some components bring a few lines of style along, which the content security policy allows only with this.
setNonce(document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '')
void begin()

/** Documents hold no data, so the first thing to ask is where the events stand: what is read later is at least as new. */
async function begin(): Promise<void> {
  if (!(await hasKey().catch(() => false))) return goToSignIn('lost')
  const from = await ask('list_events', { limit: 1 }).then(
    ({ cursor }) => cursor,
    error => (error instanceof Refused && error.status === 401 ? undefined : ''),
  )
  if (from === undefined) return goToSignIn('ended')
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
