import { useState } from 'react'

export interface Draft<T> {
  /** The saved value with the person's changes. */
  value: T
  changes: Partial<T>
  isChanged: boolean
  set<K extends keyof T>(field: K): (value: T[K]) => void
  reset(): void
}

/** Edits of a saved value. Only edited fields differ, so that changes from elsewhere show in the others. */
export function useDraft<T extends object>(saved: T): Draft<T> {
  const [touched, setTouched] = useState<Partial<T>>({})
  const changes = Object.fromEntries(
    Object.entries(touched).filter(([field, value]) => !same(value, saved[field as keyof T])),
  ) as Partial<T>
  return {
    value: { ...saved, ...touched },
    changes,
    isChanged: Object.keys(changes).length > 0,
    set: field => value => setTouched(before => ({ ...before, [field]: value })),
    reset: () => setTouched({}),
  }
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
