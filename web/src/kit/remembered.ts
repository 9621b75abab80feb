import { useState } from 'react'

/** A choice that is there again at the next visit; it is a convenience, so a browser that keeps nothing is no fault. */
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
        // Kept until the page is closed, then.
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
