import { Button } from '@radix-ui/themes'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { download } from './download.ts'
import { complain, tell } from './toasts.tsx'

interface ExportProps {
  file: string
  /** What the lines are, such as events. */
  what: string
  /** The newest last. `isCut`: older ones are left out. */
  read(): Promise<{ lines: readonly object[]; isCut: boolean }>
}

/** Saves a list as a file with one record per line. */
export function Export({ file, what, read }: ExportProps) {
  const [busy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    try {
      const { lines, isCut } = await read()
      download(file, 'application/jsonl', lines.map(line => `${JSON.stringify(line)}\n`).join(''))
      if (isCut) tell({ text: `Exported the newest ${lines.length} ${what}. Older ones are left out.` })
    } catch (error) {
      complain(error)
    }
    setBusy(false)
  }
  return (
    <Button variant="soft" color="gray" highContrast loading={busy} onClick={run}>
      <Download size={14} /> Export
    </Button>
  )
}
