import './theme.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient, startFollowing } from './live/data.ts'
import { Appearance } from './shell/appearance.tsx'
import { Shell } from './shell/shell.tsx'

// Some components bring a few lines of style along, which the content security policy allows only with this.
setNonce(document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '')
startFollowing()

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Appearance>
        <Shell />
      </Appearance>
    </QueryClientProvider>
  </StrictMode>,
)
