import { needs } from 'virtual:operations'
import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { ask, Refused } from '../api/client.ts'
import { type May, type Me, mayOf } from './rights.ts'

export const ME = ['who_am_i', {}] as const

/** Signed in, without a role. Such a person may not even ask who they are. */
const NOBODY: Me = { kind: 'person', id: null, name: '', grants: [], permissions: [] }

export const whoAmI = (signal?: AbortSignal): Promise<Me> =>
  ask('who_am_i', {}, { signal }).catch(error => {
    if (error instanceof Refused && error.status === 403) return NOBODY
    throw error
  })

/** Who is signed in. Known before the page is shown. */
export const useMe = (): Me | undefined => useQuery<Me>({ queryKey: ME, queryFn: ({ signal }) => whoAmI(signal) }).data

export function useMayDo(): May {
  const me = useMe()
  return useMemo(() => mayOf(me, needs), [me])
}

export const mayNow = (client: QueryClient): May => mayOf(client.getQueryData<Me>(ME), needs)

/** Whether to offer something: an operation or a permission, anywhere or in one project. */
export const useMay: (...what: Parameters<May>) => boolean = (...what) => useMayDo()(...what)

/** The page is drawn with the new roles before its answers are asked for again. */
const DRAWN_MS = 100

/** After a change of roles nothing that was read before counts any more. */
export async function lookWhoIAm(client: QueryClient): Promise<void> {
  const now = await whoAmI().catch(() => undefined)
  if (!now || JSON.stringify(now) === JSON.stringify(client.getQueryData(ME))) return
  client.setQueryData(ME, now)
  await new Promise(resolve => setTimeout(resolve, DRAWN_MS))
  await client.resetQueries({ predicate: ({ queryKey: [name] }) => name !== ME[0] })
}
