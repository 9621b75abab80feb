import { useState } from 'react'

/** A choice that is kept for the next visit. A browser that stores nothing is no problem. */
export function useRemembered(name: string): [string | null, (value: string | null) => void] {
  const key = `fleet-${name}`
  const [value, setValue] = useState(() => read(key))
  return [
    value,
    next => {
      setValue(next)
      try {
        if (next === null) localStorage.removeItem(key)
        else localStorage.setItem(key, next)
      } catch {
        // The choice then lasts until the page is closed.
      }
    },
  ]
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}
