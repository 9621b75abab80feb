import { IconButton } from '@radix-ui/themes'
import { Check, Copy } from 'lucide-react'
import { memo, type ReactNode, useRef, useState } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { plain, safeLink } from './plain.ts'

const PLUGINS = [remarkGfm]

const Away = ({ to, children }: { to: string | undefined; children: ReactNode }) => {
  const address = safeLink(to)
  return address ? (
    <a href={address} target="_blank" rel="noreferrer noopener" title={address}>
      {children}
    </a>
  ) : (
    <span title={to}>{children}</span>
  )
}

const COMPONENTS: Components = {
  a: ({ href, children }) => <Away to={href}>{children}</Away>,
  // Loading a picture would tell its server who reads this, and when.
  img: ({ src, alt }) => <Away to={typeof src === 'string' ? src : undefined}>picture: {alt || src}</Away>,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div className="markdown-wide" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  // The page has its own h1, so headings of agents begin at h3.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  input: ({ checked }) => <span className="markdown-box">{checked ? '☑' : '☐'} </span>,
}

function CodeBlock({ children }: { children: ReactNode }) {
  const block = useRef<HTMLPreElement>(null)
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard?.writeText(block.current?.textContent ?? '')
    setCopied(true)
  }
  return (
    <div className="markdown-code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre ref={block} tabIndex={0}>
        {children}
      </pre>
      <IconButton size="1" variant="soft" color="gray" aria-label="Copy code" onClick={copy}>
        {copied ? <Check size={12} /> : <Copy size={12} />}
      </IconButton>
    </div>
  )
}

export default memo(function Rendered({ text }: { text: string }) {
  return (
    <div className="markdown" dir="auto">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={address => address}>
        {plain(text)}
      </ReactMarkdown>
    </div>
  )
})
