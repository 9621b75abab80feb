import { Text } from '@radix-ui/themes'
import { Brain, ChevronRight, CircleAlert, MessageCircleQuestion, TriangleAlert, User } from 'lucide-react'
import { memo } from 'react'
import type { NoteBlock, TextBlock } from '../../../../src/domain/rules/conversation.ts'
import { Deferred } from '../../kit/deferred.tsx'
import { Foreign } from '../../kit/foreign.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import type { BlockProps } from './block-props.ts'
import { ToolView } from './tool.tsx'

/** One block of the conversation. */
export const BlockView = memo(function BlockView(props: BlockProps) {
  const { block, whole } = props
  switch (block.kind) {
    case 'tool':
      return <ToolView {...props} block={block} />
    case 'thinking':
      return <Thinking {...props} block={block} />
    case 'note':
      return <Note note={block} />
    case 'lines':
      return (
        <div className="block-lines" data-stream={block.stream}>
          <Foreign
            text={block.lines.join('\n')}
            code
            tone={block.stream === 'stderr' ? 'quiet' : 'plain'}
            whole={whole(block.cut)}
          />
        </div>
      )
    default:
      return <Words {...props} block={block} />
  }
})

function Words({ block, whole }: BlockProps<TextBlock>) {
  const mine = block.kind === 'said'
  return (
    <div className="block-words" data-mine={mine || undefined}>
      {mine && (
        <div className="block-who">
          <User size={13} aria-hidden />
          <Text size="1" color="gray">
            You {block.at && <Time at={block.at} />}
          </Text>
        </div>
      )}
      {block.cut ? (
        <Foreign text={block.text} whole={whole(block.cut)} />
      ) : (
        <Deferred instead={<Foreign text={block.text} />}>{() => <Markdown text={block.text} />}</Deferred>
      )}
    </div>
  )
}

function Thinking({ block, toggled, toggle, whole }: BlockProps<TextBlock>) {
  const first = block.text.trim().split('\n', 1)[0] ?? ''
  return (
    <div className="block-fold">
      <button type="button" className="block-head" aria-expanded={toggled} onClick={() => toggle(block.id)}>
        <Brain size={14} aria-hidden />
        <span className="block-name">{block.open ? 'Thinking' : 'Thought'}</span>
        {!toggled && <span className="block-summary block-thought">{plain(first.slice(0, 200))}</span>}
        <ChevronRight size={14} aria-hidden className="block-chevron" />
      </button>
      {toggled && (
        <div className="block-body">
          <Foreign text={block.text} tone="quiet" whole={whole(block.cut)} />
        </div>
      )}
    </div>
  )
}

const NOTE_ICONS = { bad: CircleAlert, warning: TriangleAlert, asks: MessageCircleQuestion, quiet: undefined }

function Note({ note }: { note: NoteBlock }) {
  const Icon = NOTE_ICONS[note.tone]
  return (
    <div className="block-note" data-tone={note.tone}>
      {Icon && <Icon size={14} aria-hidden />}
      <Foreign text={note.text} lines={12} />
    </div>
  )
}
