import { Button, IconButton } from '@radix-ui/themes'
import { ChevronDown, ChevronRight, MessageSquarePlus, UnfoldVertical } from 'lucide-react'
import { memo, type ReactNode, useEffect } from 'react'
import { useAsk } from '../../live/data.ts'
import { CopyButton } from '../copy.tsx'
import { Problem } from '../page.tsx'
import { plural } from '../words.ts'
import { Code } from './code.tsx'
import { LineCounts } from './line-counts.tsx'
import type { Span } from './pairs.ts'
import type { Hunk, Line } from './parse.ts'
import type { Listed, Place, PlacedComment, Row } from './rows.ts'
import { shown } from './shown.ts'
import type { Reader } from './use-diffs.ts'

export interface RowViewProps<R extends PlacedComment> {
  row: Row<R>
  reader: Reader
  isCursor: boolean
  isFolded: boolean
  fold(listed: Listed, folded: boolean): void
  fileActions?(listed: Listed): ReactNode
  comment?(comment: R): ReactNode
  writer?(place: Place, close: () => void): ReactNode
  /** Begins a comment on a line, or adds the line to those of the comment. */
  write(place: Place | undefined, adds?: boolean): void
}

/** One row of a long diff. */
export const RowView = memo(function RowView<R extends PlacedComment>(props: RowViewProps<R>) {
  const { row, reader, isCursor, isFolded, fold, fileActions, comment, writer, write } = props
  const { path } = row.listed
  const comments = writer && write
  switch (row.kind) {
    case 'file':
      return <FileHead listed={row.listed} isFolded={isFolded} fold={fold} actions={fileActions?.(row.listed)} />
    case 'unread':
      return <Unread listed={row.listed} reader={reader} />
    case 'note':
      return <p className="diff-note">{shown(row.text)}</p>
    case 'gap':
      return <Gap row={row} expand={() => reader.expand(path, row.at)} />
    case 'line':
      return (
        <div className="diff-line" data-numbers data-sign={row.line.sign} data-cursor={isCursor || undefined}>
          <LineNumber path={path} line={row.line} side="old" write={row.line.sign === '-' ? comments : undefined} />
          <LineNumber path={path} line={row.line} side="new" write={comments} />
          <span className="diff-sign">{row.line.sign}</span>
          <Code path={path} hunk={row.hunk} line={row.line} part={row.part} />
        </div>
      )
    case 'pair':
      return (
        <div className="diff-pair" data-cursor={isCursor || undefined}>
          <Half path={path} line={row.pair.left} side="old" hunk={row.hunk} parts={row.parts} write={comments} />
          <Half path={path} line={row.pair.right} side="new" hunk={row.hunk} parts={row.parts} write={comments} />
        </div>
      )
    case 'comment':
      return comment?.(row.comment)
    case 'writing':
      return writer?.(row.place, () => write(undefined))
    case 'end':
      return <div className="diff-end" />
  }
}) as <R extends PlacedComment>(props: RowViewProps<R>) => ReactNode

interface FileHeadProps {
  listed: Listed
  isFolded: boolean
  fold(listed: Listed, folded: boolean): void
  actions: ReactNode
}

function FileHead({ listed, isFolded, fold, actions }: FileHeadProps) {
  const { path, change, from, added, deleted, generated } = listed
  const name = shown(path)
  const cut = name.lastIndexOf('/') + 1
  return (
    <header className="diff-file">
      <IconButton
        size="1"
        variant="ghost"
        color="gray"
        aria-label={`${isFolded ? 'Show' : 'Fold'} ${name}`}
        aria-expanded={!isFolded}
        onClick={() => fold(listed, !isFolded)}
      >
        {isFolded ? <ChevronRight size={16} /> : <ChevronDown size={16} />}
      </IconButton>
      <h3 className="diff-name" title={from ? `${shown(from)} → ${name}` : name}>
        {change === 'renamed' && from && <span className="diff-folder">{shown(from)} → </span>}
        <span className="diff-folder">{name.slice(0, cut)}</span>
        {name.slice(cut)}
      </h3>
      <CopyButton text={path} label="Copy path" />
      {change !== 'modified' && <span className="diff-change">{change}</span>}
      {generated && <span className="diff-change">generated</span>}
      <LineCounts added={added} deleted={deleted} />
      {actions}
    </header>
  )
}

/** A file whose diff is loaded when it becomes visible. */
function Unread({ listed, reader }: { listed: Listed; reader: Reader }) {
  const { path } = listed
  const asked = { mission_id: reader.missionId, path }
  const { data, error, refetch } = useAsk('diff_mission', asked, { enabled: !reader.awaited })
  useEffect(() => {
    if (data) reader.take(path, data)
  }, [data, reader, path])
  if (error) return <Problem error={error} retry={refetch} />
  return (
    <div className="diff-unread" role="status" aria-busy aria-label={`Loading ${shown(path)}`}>
      <span />
      <span />
      <span />
    </div>
  )
}

function Gap({ row, expand }: { row: Extract<Row, { kind: 'gap' }>; expand(): void }) {
  const { hidden, section } = row
  return (
    <div className="diff-hidden">
      <Button size="1" variant="ghost" color="gray" highContrast onClick={expand}>
        <UnfoldVertical size={13} aria-hidden />
        {hidden === undefined ? 'Show the rest' : plural(hidden, 'hidden line')}
      </Button>
      {section && <code>{shown(section)}</code>}
    </div>
  )
}

interface LineNumberProps {
  path: string
  line: Line
  side: Place['side']
  write: RowViewProps<PlacedComment>['write'] | undefined
}

/** Where the pointer went down: lines are selected by dragging over their numbers. */
let pressed: Place | undefined

/** The number of a line. A click on it begins a comment; with Shift, or by dragging, on several lines. */
function LineNumber({ path, line, side, write }: LineNumberProps) {
  const number = line[side]
  if (number === null || !write) return <span className="diff-number">{number}</span>
  const place = { path, side, line: number }
  const release = () => {
    const from = pressed
    pressed = undefined
    if (!from || from.path !== path || from.side !== side || from.line === number) return
    write(from)
    write(place, true)
  }
  return (
    <button
      type="button"
      tabIndex={-1}
      className="diff-number"
      aria-label={`Comment on ${side === 'old' ? 'old ' : ''}line ${number}`}
      onPointerDown={event => {
        pressed = event.shiftKey ? undefined : place
        // A touch would hold on to this element, and the release would be told here.
        event.currentTarget.releasePointerCapture(event.pointerId)
      }}
      onPointerUp={release}
      onClick={event => write(place, event.shiftKey)}
    >
      <MessageSquarePlus size={12} aria-hidden className="diff-plus" />
      {number}
    </button>
  )
}

interface HalfProps {
  path: string
  line: Line | null
  side: Place['side']
  hunk: Hunk
  parts: ReadonlyMap<Line, Span>
  write: LineNumberProps['write']
}

function Half({ path, line, side, hunk, parts, write }: HalfProps) {
  if (!line) return <div className="diff-half" data-empty />
  const commentable = side === 'new' || line.sign === '-'
  return (
    <div className="diff-half" data-sign={line.sign}>
      <LineNumber path={path} line={line} side={side} write={commentable ? write : undefined} />
      <Code path={path} hunk={hunk} line={line} part={parts.get(line)} />
    </div>
  )
}
