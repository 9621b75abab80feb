import { Badge, Text } from '@radix-ui/themes'
import {
  Bot,
  CircleX,
  FilePen,
  FileText,
  Globe,
  ListTodo,
  type LucideIcon,
  MessageCircleQuestion,
  Plug,
  Search,
  SquareTerminal,
  Wrench,
} from 'lucide-react'
import { useMemo } from 'react'
import type { ToolBlock } from '../../../../src/domain/rules/conversation.ts'
import { type ToolKind, toolKind } from '../../../../src/domain/rules/tool-words.ts'
import { Deferred } from '../../kit/deferred.tsx'
import { InlineDiff } from '../../kit/diff/inline.tsx'
import { LineCounts } from '../../kit/diff/line-counts.tsx'
import { sizeOf } from '../../kit/diff/size.ts'
import { Foreign } from '../../kit/foreign.tsx'
import { plain } from '../../kit/plain.ts'
import { Elapsed } from '../../kit/time.tsx'
import { ToolInput } from '../../kit/tool-input.tsx'
import { duration } from '../../kit/words.ts'
import type { BlockProps } from './block-props.ts'

const SUMMARY_CHARS = 300
const ICONS: Record<ToolKind, LucideIcon> = {
  run: SquareTerminal,
  edit: FilePen,
  read: FileText,
  search: Search,
  web: Globe,
  agent: Bot,
  plan: ListTodo,
  ask: MessageCircleQuestion,
  service: Plug,
  other: Wrench,
}

/** A tool call and its result on one line. Its changes to files are always shown. */
export function ToolView({ block, toggled, toggle, whole, live }: BlockProps<ToolBlock>) {
  const { name, input, edits, result, leave } = block
  const failure = result?.failed ? firstLine(result.output) : undefined
  const Icon = ICONS[toolKind(name)]
  const size = useMemo(() => sizeOf(edits), [edits])
  return (
    <div className="block-fold" data-failed={result?.failed || undefined}>
      <button type="button" className="block-head" aria-expanded={toggled} onClick={() => toggle(block.id)}>
        {result?.failed ? <CircleX size={14} aria-label="failed" /> : <Icon size={14} aria-hidden />}
        <span className="block-name">{plain(name || 'Tool result')}</span>
        <span className="block-summary">{summaryOf(input)}</span>
        {leave && (
          <Badge color={leave === 'denied' ? 'red' : 'amber'} highContrast>
            {leave === 'denied' ? 'Denied' : 'Asked for permission'}
          </Badge>
        )}
        {size && <LineCounts {...size} />}
        <Text size="1" color="gray" className="block-state">
          {result ? took(block) : live && <Running at={block.at} />}
        </Text>
      </button>
      {edits.length > 0 && !toggled && (
        <div className="block-edits">
          <Deferred instead={<div className="block-edits-space" />}>
            {() =>
              edits.slice(0, 3).map((edit, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the edits of one call never change their order
                <InlineDiff key={index} edit={edit} />
              ))
            }
          </Deferred>
        </div>
      )}
      {failure && !toggled && <div className="block-failure">{failure}</div>}
      {toggled && (
        <div className="block-body">
          {edits.length ? (
            edits.map((edit, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <InlineDiff key={index} edit={edit} whole />
            ))
          ) : (
            <ToolInput input={input} />
          )}
          {block.cut && <Foreign text="The input is shortened." tone="quiet" whole={whole(block.cut)} />}
          {result && (
            <div className="block-output">
              <Foreign
                text={result.output || '(no output)'}
                code
                tone={result.failed ? 'bad' : 'plain'}
                whole={whole(result.cut)}
              />
            </div>
          )}
        </div>
      )}
    </div>
  )
}

const firstLine = (text: string): string => plain(text.trim().slice(0, SUMMARY_CHARS).split('\n', 1)[0] ?? '')

/** The input on one line: the field that people know a tool by, or else the whole input. */
function summaryOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return plain(String(input ?? '').slice(0, SUMMARY_CHARS))
  const fields = input as Record<string, unknown>
  const [first] = Array.isArray(fields.questions) ? fields.questions : []
  if (typeof first?.question === 'string') return plain(first.question.slice(0, SUMMARY_CHARS))
  const known = ['command', 'file_path', 'filePath', 'path', 'pattern', 'query', 'url', 'description', 'title']
  const field = known.find(each => typeof fields[each] === 'string')
  const text = field ? String(fields[field]) : JSON.stringify(input)
  return plain(text.slice(0, SUMMARY_CHARS).replace(/\s+/g, ' '))
}

const Running = ({ at }: { at: string | null }) => <>Running {at && <Elapsed from={at} />}</>

/** Shorter than this, nobody cares how long it took. */
const WORTH_MS = 100

function took({ at, result }: ToolBlock): string {
  if (!at || !result?.at) return ''
  const ms = Date.parse(result.at) - Date.parse(at)
  if (ms < WORTH_MS) return ''
  return ms < 1000 ? `${ms} ms` : duration(ms / 1000)
}
