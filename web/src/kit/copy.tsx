import { IconButton, Tooltip } from '@radix-ui/themes'
import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import './copy.css'
import { complain } from './toasts.tsx'

const SHOWN_MS = 1500

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await copyText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), SHOWN_MS)
    } catch (error) {
      complain(error)
    }
  }
  return (
    <Tooltip content={copied ? 'Copied' : label}>
      <IconButton size="1" variant="ghost" color="gray" aria-label={label} onClick={copy}>
        {copied ? <Check size={14} /> : <Copy size={14} />}
      </IconButton>
    </Tooltip>
  )
}

/** Without TLS or localhost a page has no clipboard API. Selecting and copying still works there. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (!copied) throw new Error('The browser did not allow copying; select the text and copy it by hand.')
}

/** Text to copy: a command, a configuration. */
export function CopyBox({ text, label }: { text: string; label: string }) {
  return (
    <div className="copy-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and those without a mouse must reach it */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  )
}
