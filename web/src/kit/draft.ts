import { useState } from 'react'

export interface Draft<T> {
  /** What is saved, with what the person has changed. */
  value: T
  changes: Partial<T>
  isChanged: boolean
  set<K extends keyof T>(field: K): (value: T[K]) => void
  reset(): void
}

/** Edits of something saved: only what was touched differs, so that news from elsewhere shows in the rest. */
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
