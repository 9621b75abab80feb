import { TextField } from '@radix-ui/themes'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Check, MessageSquare } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { LineCounts } from '../../kit/diff/line-counts.tsx'
import type { Listed } from '../../kit/diff/rows.ts'
import { shown } from '../../kit/diff/shown.ts'
import { plural } from '../../kit/words.ts'
import './tree.css'

interface TreeProps {
  files: readonly Listed[]
  viewed: ReadonlySet<string>
  commentsOn: ReadonlyMap<string, readonly unknown[]>
  current: string | undefined
  goTo(path: string): void
}

type Branch = { folder: string } | { listed: Listed }

const ROW_PX = 28
/** With fewer files a search is not needed. */
const MANY = 12

/** The files that changed, folder by folder. */
export function FileTree({ files, viewed, commentsOn, current, goTo }: TreeProps) {
  const [text, setText] = useState('')
  const scroller = useRef<HTMLDivElement>(null)
  const branches = useMemo(() => branchesOf(files, text), [files, text])
  const virtualizer = useVirtualizer({
    count: branches.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  })
  const at = branches.findIndex(branch => 'listed' in branch && branch.listed.path === current)
  useEffect(() => {
    if (at !== -1) virtualizer.scrollToIndex(at, { align: 'auto' })
  }, [at, virtualizer])
  return (
    <nav className="tree" aria-label="Changed files">
      <p className="tree-count">
        {plural(files.length, 'file')}, {viewed.size} viewed
      </p>
      {files.length > MANY && (
        <TextField.Root
          size="1"
          aria-label="Find a file"
          placeholder="Find a file"
          value={text}
          onChange={event => setText(event.target.value)}
        />
      )}
      <div ref={scroller} className="tree-scroll">
        <div className="tree-rows" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start, key }) => {
            const branch = branches[index]!
            const style = { transform: `translateY(${start}px)` }
            if ('folder' in branch)
              return (
                <div key={key} className="tree-row tree-folder" style={style} title={branch.folder}>
                  <span>{branch.folder}</span>
                </div>
              )
            const { path, added, deleted, change } = branch.listed
            const name = shown(path.slice(path.lastIndexOf('/') + 1))
            return (
              <button
                key={key}
                type="button"
                className="tree-row tree-file"
                data-change={change}
                style={style}
                title={shown(path)}
                aria-current={index === at || undefined}
                onClick={() => goTo(path)}
              >
                <span className="tree-name">{name}</span>
                {commentsOn.has(path) && <MessageSquare size={12} role="img" aria-label="has comments" />}
                {viewed.has(path) && <Check size={12} role="img" aria-label="viewed" />}
                <LineCounts added={added} deleted={deleted} />
              </button>
            )
          })}
        </div>
      </div>
    </nav>
  )
}

/** Git lists the files of one folder next to each other. */
function branchesOf(files: readonly Listed[], text: string): Branch[] {
  const part = text.trim().toLowerCase()
  let last = ''
  return files
    .filter(({ path }) => path.toLowerCase().includes(part))
    .flatMap((listed): Branch[] => {
      const folder = shown(listed.path.slice(0, listed.path.lastIndexOf('/') + 1))
      const isNew = folder !== last
      last = folder
      return isNew ? [{ folder: folder || '/' }, { listed }] : [{ listed }]
    })
}
