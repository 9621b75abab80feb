import { Button, Callout, Flex, Spinner, Text } from '@radix-ui/themes'
import { TriangleAlert } from 'lucide-react'
import { useEffect, useState } from 'react'
import { addressOf, type Output } from '../../api/client.ts'
import { TextInput } from '../../kit/fields.tsx'
import { plain } from '../../kit/plain.ts'
import { complain } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { pauseBefore, readStream } from '../../live/read-stream.ts'

type State = Output<'follow_clone'>

/** Clones a repository, shows how far it is, and says why it failed. */
export default function CloneRepository({ added }: { added(projectId: string): void }) {
  const [address, setAddress] = useState('')
  const [into, setInto] = useState('')
  const [cloneId, setCloneId] = useState<string>()
  const root = useAsk('browse_folders', {}).data?.roots[0]
  const { run, busy } = useCommand('clone_repository')
  const state = useClone(cloneId, added)
  const isCloning = busy || (cloneId !== undefined && (!state || state.state === 'cloning'))
  const clone = async () => {
    setCloneId(undefined)
    const begun = await run({ address: address.trim(), into: into.trim() || undefined })
    if (begun) setCloneId(begun.clone_id)
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        if (address.trim() && !isCloning) clone()
      }}
    >
      <Flex direction="column" gap="3">
        <TextInput
          label="Address"
          hint="https or ssh. Git signs in as it does for you in a terminal."
          placeholder="https://github.com/you/shop"
          value={address}
          set={setAddress}
          disabled={isCloning}
        />
        <TextInput
          label="Into folder"
          placeholder={root}
          hint="The clone gets its own folder there."
          value={into}
          set={setInto}
          disabled={isCloning}
        />
        <Flex gap="3" align="center" wrap="wrap">
          <Button type="submit" disabled={!address.trim() || isCloning}>
            Clone
          </Button>
          {isCloning && (
            <Flex gap="2" align="center" role="status">
              <Spinner />
              <Text size="2">{state ? `${plain(state.text)}…` : 'Connecting…'}</Text>
            </Flex>
          )}
        </Flex>
        {state?.state === 'failed' && (
          <Callout.Root color="red" highContrast size="1" role="alert">
            <Callout.Icon>
              <TriangleAlert size={16} />
            </Callout.Icon>
            <Callout.Text>
              {plain(state.text)} {state.try && plain(state.try)}
            </Callout.Text>
          </Callout.Root>
        )}
      </Flex>
    </form>
  )
}

const TRIES = 5

function useClone(cloneId: string | undefined, added: (projectId: string) => void): State | undefined {
  const [state, setState] = useState<State>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per clone
  useEffect(() => {
    setState(undefined)
    if (cloneId === undefined) return
    const stopping = new AbortController()
    const { signal } = stopping
    const follow = async () => {
      let last: State | undefined
      for (let attempt = 0; !signal.aborted && (!last || last.state === 'cloning'); attempt++)
        await readStream(addressOf('follow_clone', { clone_id: cloneId }), {
          signal,
          opened: () => {},
          arrived(items) {
            last = items.findLast(({ kind }) => kind === 'clone')?.data as State | undefined
            if (last) setState(last)
          },
        }).catch(error => {
          if (signal.aborted) return
          if (attempt >= TRIES) throw error
          return pauseBefore(attempt, signal)
        })
      if (last?.project_id) added(last.project_id)
    }
    follow().catch(complain)
    return () => stopping.abort()
  }, [cloneId])
  return state
}
