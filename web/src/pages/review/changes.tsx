import { Checkbox, SegmentedControl, Text } from '@radix-ui/themes'
import { type Ref, useCallback, useImperativeHandle, useMemo, useRef, useState } from 'react'
import { type Listed, linesAt, type Place, type View } from '../../kit/diff/rows.ts'
import { useDiffs } from '../../kit/diff/use-diffs.ts'
import { type DiffHandle, DiffView } from '../../kit/diff/view.tsx'
import { useNarrow } from '../../kit/narrow.ts'
import { Section } from '../../kit/page.tsx'
import { useRemembered } from '../../kit/remembered.ts'
import { plural } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { type Comment, CommentCard, NewComment } from './comments.tsx'
import type { Review } from './queue.ts'
import { FileTree } from './tree.tsx'
import { useViewed } from './viewed.ts'

interface ChangesProps {
  ref: Ref<DiffHandle & { view(): void }>
  review: Review
  /** The commit under review. */
  candidate: string
  comments: readonly Comment[]
  /** Whether comments can still be added. */
  open: boolean
}

/** Long changes and generated files are folded at first. */
const LONG_LINES = 1000

const isLong = ({ added, deleted, generated }: Listed): boolean =>
  (added ?? 0) + (deleted ?? 0) > LONG_LINES || generated === true

/** The changed files and their diffs. */
export function Changes({ ref, review, candidate, comments, open }: ChangesProps) {
  const { mission } = review
  // A review lists only the first files.
  const all = useAsk('diff_mission', { mission_id: mission.id, text: false }, { enabled: review.files_omitted > 0 })
  const { files, files_omitted } = all.data ?? review
  const diffs = useDiffs(mission.id, files)
  const [remembered, remember] = useRemembered('diff-view')
  const chosen: View = remembered === 'split' ? 'split' : 'unified'
  const narrow = useNarrow()
  const { viewed, mark } = useViewed(candidate)
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [current, setCurrent] = useState<string>()
  const diff = useRef<DiffHandle>(null)
  const goTo = useCallback((path: string) => diff.current?.goTo(path), [])
  const commentsOn = useMemo(() => Map.groupBy(comments, comment => comment.path!), [comments])
  const isFolded = useCallback(
    (listed: Listed) => folds.get(listed.path) ?? (viewed.has(listed.path) || isLong(listed)),
    [folds, viewed],
  )
  const fold = useCallback(
    ({ path }: Listed, folded: boolean) => setFolds(before => new Map(before).set(path, folded)),
    [],
  )
  const view = useCallback(
    (path: string, seen: boolean) => {
      mark(path, seen)
      setFolds(before => new Map(before).set(path, seen))
    },
    [mark],
  )
  useImperativeHandle(ref, () => ({
    file: step => diff.current?.file(step),
    goTo: path => diff.current?.goTo(path),
    line: (step, adds) => diff.current?.line(step, adds),
    comment: () => diff.current?.comment(),
    view() {
      if (current === undefined) return
      view(current, !viewed.has(current))
      if (!viewed.has(current)) diff.current?.file(1)
    },
  }))
  const fileActions = useCallback(
    ({ path }: Listed) => (
      <Text as="label" size="1" className="viewed">
        <Checkbox size="1" checked={viewed.has(path)} onCheckedChange={seen => view(path, seen === true)} /> Viewed
      </Text>
    ),
    [viewed, view],
  )
  const writer = useCallback(
    (place: Place, close: () => void) => (
      <NewComment missionId={mission.id} place={place} lines={linesAt(diffs.of(place.path), place)} close={close} />
    ),
    [mission.id, diffs],
  )
  const placed = useCallback(
    (comment: Comment) => <CommentCard comment={comment} placed candidate={open ? candidate : undefined} />,
    [candidate, open],
  )
  return (
    <Section
      title={`${plural(files.length + files_omitted, 'changed file')}`}
      actions={
        narrow || (
          <SegmentedControl.Root size="1" value={chosen} onValueChange={remember}>
            <SegmentedControl.Item value="unified">Unified</SegmentedControl.Item>
            <SegmentedControl.Item value="split">Side by side</SegmentedControl.Item>
          </SegmentedControl.Root>
        )
      }
    >
      <div className="changes">
        {narrow || <FileTree files={files} viewed={viewed} commentsOn={commentsOn} current={current} goTo={goTo} />}
        <div className="changes-diff">
          <DiffView
            ref={diff}
            files={files}
            diffs={diffs}
            view={narrow ? 'unified' : chosen}
            isFolded={isFolded}
            fold={fold}
            fileActions={fileActions}
            commentsOn={commentsOn}
            comment={placed}
            writer={open ? writer : undefined}
            onCurrent={setCurrent}
          />
          {files_omitted > 0 && (
            <Text as="p" size="2" color="gray">
              {plural(files_omitted, 'more file')} changed. This list is too long to show{' '}
              {files_omitted > 1 ? 'them' : 'it'}.
            </Text>
          )}
        </div>
      </div>
    </Section>
  )
}
