import { Button, Flex, Heading, Text } from '@radix-ui/themes'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { LineCounts } from '../../kit/diff/line-counts.tsx'
import type { Listed } from '../../kit/diff/rows.ts'
import { useDiffs } from '../../kit/diff/use-diffs.ts'
import { DiffView } from '../../kit/diff/view.tsx'
import { Lines, Problem } from '../../kit/page.tsx'
import { plural } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import type { Detail } from './actions.ts'

const LEAST_PAUSE_MS = 2000
/** Git reads the worktree for each diff, so a slow one is asked for less often. */
const PAUSE_PER_READ = 4
/** Longer changes are folded at first. */
const LONG_LINES = 400
const NO_FILES: readonly Listed[] = []

/** What the mission has changed so far. */
export function LiveChanges({ mission }: { mission: Detail }) {
  const { data, error, refetch } = useAsk('diff_mission', { mission_id: mission.id, text: false })
  const files = data?.files ?? NO_FILES
  const diffs = useDiffs(mission.id, files)
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map())
  const isFolded = useCallback(
    ({ path, added, deleted }: Listed) => folds.get(path) ?? (added ?? 0) + (deleted ?? 0) > LONG_LINES,
    [folds],
  )
  const fold = useCallback(
    ({ path }: Listed, folded: boolean) => setFolds(before => new Map(before).set(path, folded)),
    [],
  )
  if (error) return <Problem error={error} retry={() => refetch()} />
  if (!data) return <Lines rows={4} />
  return (
    <>
      <Flex align="center" gap="3" className="live-changes-head">
        <Heading as="h2" size="2">
          {files.length ? plural(files.length + data.files_omitted, 'changed file') : 'Changes'}
        </Heading>
        <LineCounts added={data.added} deleted={data.deleted} />
        {files.length > 0 && (
          <Button asChild size="1" variant="soft" ml="auto">
            <Link href={`/review/${mission.id}`}>Review</Link>
          </Button>
        )}
      </Flex>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="diff-scroller" tabIndex={0} aria-label="Diff">
        <div>
          {files.length ? (
            <DiffView files={files} diffs={diffs} view="unified" isFolded={isFolded} fold={fold} />
          ) : (
            <Text as="p" size="2" color="gray" mt="3">
              No changes yet. Files appear here as the agent edits them.
            </Text>
          )}
        </div>
      </section>
    </>
  )
}

/** Returns what to call when the agent did something: the diff is then read again, soon and not too often. */
export function useFreshDiff(mission_id: string): () => void {
  const client = useQueryClient()
  const state = useRef({ isDue: false, busy: false, gone: false })
  useEffect(() => {
    const now = state.current
    now.gone = false
    return () => {
      now.gone = true
    }
  }, [])
  return useCallback(async () => {
    const now = state.current
    now.isDue = true
    if (now.busy) return
    now.busy = true
    while (now.isDue && !now.gone) {
      now.isDue = false
      const began = performance.now()
      await client.invalidateQueries({
        predicate: ({ queryKey: [name, input] }) =>
          name === 'diff_mission' && (input as { mission_id: string }).mission_id === mission_id,
      })
      const took = performance.now() - began
      await new Promise(resolve => setTimeout(resolve, Math.max(LEAST_PAUSE_MS, PAUSE_PER_READ * took)))
    }
    now.busy = false
  }, [client, mission_id])
}
