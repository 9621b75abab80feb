import { useEffect } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { wordsIn } from '../../../src/domain/rules/search-query.ts'

const MOST_MARKS = 300
const GATHER_MS = 100

/** Marks the words of a search on the page that it led to, and scrolls to the first one. */
export function useMarking(): void {
  const [location] = useLocation()
  const [search] = useSearchParams()
  const text = search.get('mark')
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has other words
  useEffect(() => {
    const main = document.getElementById('main')
    const pattern = text && patternOf(text)
    if (!main || !pattern || !('highlights' in CSS)) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isShown = false
    const mark = () => {
      timer = undefined
      const ranges = rangesOf(main, pattern)
      CSS.highlights.set('found', new Highlight(...ranges))
      // A transcript opens at its place by itself.
      const first = ranges.find(({ startContainer }) => !startContainer.parentElement?.closest('[role="log"], h1'))
      if (!first || isShown) return
      isShown = true
      first.startContainer.parentElement?.scrollIntoView({ block: 'center' })
    }
    const observer = new MutationObserver(() => {
      timer ??= setTimeout(mark, GATHER_MS)
    })
    observer.observe(main, { childList: true, subtree: true, characterData: true })
    mark()
    return () => {
      observer.disconnect()
      clearTimeout(timer)
      CSS.highlights.delete('found')
    }
  }, [text, location])
}

/** Like the index: at the beginning of a word, in any case. */
function patternOf(text: string): RegExp | undefined {
  const words = wordsIn(text).map(({ word }) => word.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`))
  return words.length ? new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})[\\p{L}\\p{N}]*`, 'giu') : undefined
}

function rangesOf(main: HTMLElement, pattern: RegExp): Range[] {
  const ranges: Range[] = []
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node && ranges.length < MOST_MARKS; node = walker.nextNode())
    for (const { index, 0: found } of (node.nodeValue ?? '').matchAll(pattern)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + found.length)
      ranges.push(range)
    }
  return ranges
}
