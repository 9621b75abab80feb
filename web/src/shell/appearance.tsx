import { Theme } from '@radix-ui/themes'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState, useSyncExternalStore } from 'react'

export type Choice = 'system' | 'light' | 'dark'

const KEY = 'appearance'
const dark = matchMedia('(prefers-color-scheme: dark)')
const watchSystem = (watcher: () => void): (() => void) => {
  dark.addEventListener('change', watcher)
  return () => dark.removeEventListener('change', watcher)
}
const stored = (): Choice => {
  const choice = localStorage.getItem(KEY)
  return choice === 'light' || choice === 'dark' ? choice : 'system'
}

const Chosen = createContext<{ choice: Choice; shown: 'light' | 'dark'; choose(choice: Choice): void }>({
  choice: 'system',
  shown: 'light',
  choose: () => {},
})
export const useAppearance = () => useContext(Chosen)

export function Appearance({ children }: { children: ReactNode }) {
  const [choice, setChoice] = useState(stored)
  const system = useSyncExternalStore(watchSystem, () => (dark.matches ? 'dark' : 'light'))
  const shown = choice === 'system' ? system : choice
  useEffect(() => localStorage.setItem(KEY, choice), [choice])
  useEffect(() => {
    document.documentElement.style.colorScheme = shown
  }, [shown])
  const value = useMemo(() => ({ choice, shown, choose: setChoice }), [choice, shown])
  return (
    <Chosen value={value}>
      <Theme appearance={shown} accentColor="iris" grayColor="slate" radius="medium" panelBackground="solid">
        {children}
      </Theme>
    </Chosen>
  )
}
