import { Badge, Text } from '@radix-ui/themes'
import { useMemo } from 'react'
import { Hunks } from '../../kit/diff/hunks.tsx'
import { type FileDiff, parseDiff } from '../../kit/diff/parse.ts'
import { shown } from '../../kit/diff/shown.ts'
import '../../kit/fold.css'
import { Section } from '../../kit/page.tsx'
import { plural } from '../../kit/words.ts'
import './compare.css'
import { type Compared, Side } from './side.tsx'

/** This many files are open at first. */
const OPEN_FILES = 3

interface SidesProps {
  first: Compared
  second: Compared
  /** The difference from the first to the second; null: there is none to show. */
  between: { text: string; truncated: boolean } | null
}

/** Compares two pieces of work: reports, costs and checks, how they differ, then the changes of each. */
export function Sides({ first, second, between }: SidesProps) {
  const paths = useMemo(() => pathsOf(first, second), [first, second])
  const [left, right] = [useFiles(first.diff), useFiles(second.diff)]
  return (
    <>
      <div className="compare">
        <Side side={first} other={second} />
        <Side side={second} other={first} />
      </div>
      {between && <Between {...between} />}
      <Section title={`What each changed (${plural(paths.length, 'file')})`}>
        {paths.map(({ path, by }, index) => (
          <details key={path} className="fold compare-file" open={!between && index < OPEN_FILES}>
            <summary>
              <code>{shown(path)}</code>
              <Badge color={by === 'both' ? 'blue' : 'gray'} highContrast>
                {WORDS[by]}
              </Badge>
            </summary>
            <div className="compare">
              <Changed path={path} files={left} touched={by !== 'second'} />
              <Changed path={path} files={right} touched={by !== 'first'} />
            </div>
          </details>
        ))}
      </Section>
    </>
  )
}

/** The lines in which the two differ: as if the second had been made from the first. */
function Between({ text, truncated }: { text: string; truncated: boolean }) {
  const files = useMemo(() => parseDiff(text), [text])
  return (
    <Section title={files.length ? `Difference between the two (${plural(files.length, 'file')})` : 'Difference'}>
      <Text as="p" size="2" color="gray" mb="2">
        {files.length
          ? 'Red lines are only in the first, green lines only in the second.'
          : 'Both have the same files with the same content.'}
      </Text>
      {files.map(file => (
        <details key={file.path} className="fold compare-file" open>
          <summary>
            <code>{shown(file.path)}</code>
            {file.change !== 'modified' && (
              <Badge color="gray" highContrast>
                {ONLY[file.change]}
              </Badge>
            )}
          </summary>
          <div className="diff-inline">
            {file.hunks.length ? (
              <Hunks path={file.path} hunks={file.hunks} />
            ) : (
              <p className="diff-note">{file.binary ? 'Not text, so its content is not shown.' : 'No line differs.'}</p>
            )}
          </div>
        </details>
      ))}
      {truncated && (
        <Text as="p" size="2" color="gray">
          The rest is too long to show here.
        </Text>
      )}
    </Section>
  )
}
const ONLY = { added: 'only in the second', deleted: 'only in the first', renamed: 'renamed', copied: 'copied' }

const WORDS = { both: 'both', first: 'first only', second: 'second only' }

function pathsOf(first: Compared, second: Compared): { path: string; by: keyof typeof WORDS }[] {
  // A moved file also counts under its old path.
  const touched = ({ files }: Compared) => new Set(files.flatMap(({ path, from }) => (from ? [path, from] : [path])))
  const [ours, theirs] = [touched(first), touched(second)]
  const by = (path: string) => (!theirs.has(path) ? 'first' : ours.has(path) ? 'both' : 'second')
  const order = { both: 0, first: 1, second: 2 }
  return [...ours.union(theirs)]
    .map(path => ({ path, by: by(path) }) as const)
    .sort((a, b) => order[a.by] - order[b.by] || a.path.localeCompare(b.path))
}

const useFiles = (diff: string): ReadonlyMap<string, FileDiff> =>
  useMemo(() => new Map(parseDiff(diff).map(file => [file.path, file])), [diff])

interface ChangedProps {
  path: string
  files: ReadonlyMap<string, FileDiff>
  touched: boolean
}

function Changed({ path, files, touched }: ChangedProps) {
  const file = files.get(path)
  if (!touched || !file?.hunks.length)
    return (
      <Text size="2" color="gray" className="compare-diff">
        {touched ? inWords(path, file, files) : 'not touched'}
      </Text>
    )
  return (
    <div className="compare-diff diff-inline">
      <Hunks path={path} hunks={file.hunks} />
    </div>
  )
}

function inWords(path: string, file: FileDiff | undefined, files: ReadonlyMap<string, FileDiff>): string {
  if (file) return file.binary ? 'not text' : file.from ? `renamed from ${shown(file.from)}` : 'no line of it changed'
  const moved = [...files.values()].find(({ from }) => from === path)
  return moved ? `renamed to ${shown(moved.path)}` : 'too long to be shown here'
}
