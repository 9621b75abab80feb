import { useSearchParams } from 'wouter'

/** Filters in the address, so that a view can be linked to and reloaded. */
export function useAddress() {
  const [search, setSearch] = useSearchParams()
  return {
    get: (field: string): string | null => search.get(field),
    /** Null and the empty text remove a filter. */
    set: (values: Readonly<Record<string, string | null>>): void =>
      setSearch(
        before => {
          const next = new URLSearchParams(before)
          for (const [field, value] of Object.entries(values)) {
            if (value) next.set(field, value)
            else next.delete(field)
          }
          return next
        },
        { replace: true },
      ),
  }
}
