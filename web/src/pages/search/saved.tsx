import { Button, DropdownMenu } from '@radix-ui/themes'
import { Bookmark, ChevronDown } from 'lucide-react'
import { plain } from '../../kit/plain.ts'
import { useRemembered } from '../../kit/remembered.ts'

const MOST = 20

/** Searches with their filters, kept in this browser. */
export function SavedSearches({ words, open }: { words: string; open(query: string): void }) {
  const [kept, keep] = useRemembered('searches')
  const saved = listOf(kept)
  const now = location.search.slice(1)
  const isSaved = saved.includes(now)
  const put = (next: string[]) => keep(next.length ? JSON.stringify(next.slice(0, MOST)) : null)
  if (!words && !saved.length) return null
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger>
        <Button variant="soft" color="gray" highContrast>
          <Bookmark size={14} /> Saved searches <ChevronDown size={14} />
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Content>
        {saved.map(query => (
          <DropdownMenu.Item key={query} onSelect={() => open(query)}>
            {nameOf(query)}
          </DropdownMenu.Item>
        ))}
        {saved.length > 0 && words && <DropdownMenu.Separator />}
        {words &&
          (isSaved ? (
            <DropdownMenu.Item onSelect={() => put(saved.filter(each => each !== now))}>
              Remove this search
            </DropdownMenu.Item>
          ) : (
            <DropdownMenu.Item onSelect={() => put([now, ...saved])}>Save this search</DropdownMenu.Item>
          ))}
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  )
}

function listOf(kept: string | null): string[] {
  try {
    const list: unknown = JSON.parse(kept ?? '[]')
    return Array.isArray(list) ? list.filter(each => typeof each === 'string') : []
  } catch {
    return []
  }
}

function nameOf(query: string): string {
  const { q = '', in: where, from, to } = Object.fromEntries(new URLSearchParams(query))
  const more = [where, from && `from ${from}`, to && `until ${to}`].filter(Boolean).join(', ')
  return plain(more ? `${q} (${more})` : q)
}
