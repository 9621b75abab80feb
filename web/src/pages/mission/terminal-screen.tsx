import { Button, Callout } from '@radix-ui/themes'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { getNonce } from 'get-nonce'
import { useEffect, useRef, useState } from 'react'
import { ask, Refused } from '../../api/client.ts'
import { pauseBefore } from '../../live/read-stream.ts'
import './terminal.css'

/** The server is told after this much, so that it goes on before its limit is reached. */
const TOLD_EVERY_BYTES = 64 * 1024
/** A message to the server is at most as long as it takes. */
const MOST_INPUT_BYTES = 32 * 1024
/** Why the server closed the connection: see `CLOSED` in server/terminal-socket.ts. */
const SIGNED_OUT = 4401
const REFUSED = 4403
const REPLACED = 4409

const THEME = { background: '#111113', foreground: '#edeef0', cursor: '#edeef0', selectionBackground: '#3d63dd80' }
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'

type State =
  | { kind: 'connecting' }
  | { kind: 'open' }
  | { kind: 'replaced' }
  | { kind: 'ended'; text: string }
  | { kind: 'refused'; text: string }

/** A terminal that is connected with the client of a mission. It reconnects until the client has ended. */
export default function TerminalScreen({ missionId, grown }: { missionId: string; grown(): void }) {
  const place = useRef<HTMLDivElement>(null)
  const [state, setState] = useState<State>({ kind: 'connecting' })
  const [tries, setTries] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: tries connects again
  useEffect(() => {
    const stop = new AbortController()
    const terminal = new Terminal({ fontFamily: FONT, fontSize: 13, theme: THEME, scrollback: 5000, cursorBlink: true })
    const fit = new FitAddon()
    terminal.loadAddon(fit)
    withNonce(() => terminal.open(place.current!))
    // Tab belongs to the client, so another key leads out.
    terminal.attachCustomKeyEventHandler(event => {
      if (event.key !== 'F6') return true
      if (event.type === 'keydown') place.current?.closest('.terminal')?.querySelector('button')?.focus()
      return false
    })
    fit.fit()
    terminal.focus()
    connect(missionId, terminal, setState, stop.signal)
    const printing = terminal.onWriteParsed(grown)
    const observer = new ResizeObserver(() => fit.fit())
    observer.observe(place.current!)
    return () => {
      stop.abort()
      observer.disconnect()
      printing.dispose()
      terminal.dispose()
    }
  }, [missionId, tries, grown])
  return (
    <>
      <Told state={state} again={() => setTries(count => count + 1)} />
      <div className="terminal-place" ref={place} />
      <p className="terminal-hint">Press F6 to leave the terminal with the keyboard.</p>
    </>
  )
}

function Told({ state, again }: { state: State; again(): void }) {
  if (state.kind === 'open') return null
  const text =
    state.kind === 'connecting'
      ? 'Connecting…'
      : state.kind === 'replaced'
        ? 'This terminal was opened in another window.'
        : state.text
  return (
    <Callout.Root size="1" color={state.kind === 'refused' ? 'red' : 'gray'} highContrast role="status" mb="2">
      <Callout.Text>{text}</Callout.Text>
      {state.kind === 'replaced' && (
        <Button size="1" onClick={again}>
          Use it here
        </Button>
      )}
    </Callout.Root>
  )
}

/** Connects until the client ends, the person is signed out, or the signal says so. */
async function connect(mission_id: string, terminal: Terminal, tell: (state: State) => void, signal: AbortSignal) {
  let isOver = false
  for (let attempt = 0; !signal.aborted && !isOver; attempt++) {
    try {
      const { ticket } = await ask('open_terminal', { mission_id }, { signal })
      const closed = await converse(ticket, terminal, signal, said => {
        if (said === 'open') {
          attempt = 0
          return tell({ kind: 'open' })
        }
        isOver = true
        tell(said.kind === 'refused' ? { kind: 'refused', text: said.text } : { kind: 'ended', text: ENDED })
      })
      if (signal.aborted || isOver) return
      if (closed === REPLACED) return tell({ kind: 'replaced' })
      if (closed === SIGNED_OUT || closed === REFUSED) return
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof Refused) return tell({ kind: 'refused', text: error.message })
    }
    tell({ kind: 'connecting' })
    await pauseBefore(attempt, signal)
  }
}

const ENDED = 'The client has ended. Choose what happens next.'

type Said = { kind: 'exited'; code: number } | { kind: 'refused'; text: string }

/** One connection. Resolves with the number that says why it was closed. */
function converse(
  ticket: string,
  terminal: Terminal,
  signal: AbortSignal,
  tell: (said: Said | 'open') => void,
): Promise<number> {
  return new Promise(resolve => {
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/ws`, ['fleet', `ticket.${ticket}`])
    socket.binaryType = 'arraybuffer'
    let unsaid = 0
    const say = (what: object) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(what))
    const sayRead = (bytes: number) => {
      unsaid += bytes
      if (unsaid < TOLD_EVERY_BYTES) return
      say({ kind: 'read', bytes: unsaid })
      unsaid = 0
    }
    const type = (bytes: Uint8Array<ArrayBuffer>) => {
      for (let at = 0; at < bytes.length; at += MOST_INPUT_BYTES)
        if (socket.readyState === WebSocket.OPEN) socket.send(bytes.subarray(at, at + MOST_INPUT_BYTES))
    }
    const sayingSize = terminal.onResize(({ cols, rows }) => say({ kind: 'size', columns: cols, rows }))
    const typing = terminal.onData(text => type(new TextEncoder().encode(text)))
    const clicking = terminal.onBinary(text => type(Uint8Array.from(text, letter => letter.charCodeAt(0))))
    const leave = () => socket.close()
    signal.addEventListener('abort', leave)
    socket.onopen = () => {
      // What was printed last comes again.
      terminal.reset()
      say({ kind: 'size', columns: terminal.cols, rows: terminal.rows })
      tell('open')
    }
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === 'string') return tell(JSON.parse(data))
      terminal.write(new Uint8Array(data), () => sayRead(data.byteLength))
    }
    socket.onclose = ({ code }) => {
      signal.removeEventListener('abort', leave)
      for (const each of [sayingSize, typing, clicking]) each.dispose()
      resolve(code)
    }
  })
}

/** The terminal makes its styles while it is opened. The content security policy wants them marked. */
function withNonce(open: () => void): void {
  const make = document.createElement
  document.createElement = function marked(this: Document, ...args: Parameters<typeof make>) {
    const element = make.apply(this, args)
    if (element instanceof HTMLStyleElement) element.nonce = getNonce() ?? ''
    return element
  } as typeof make
  try {
    open()
  } finally {
    document.createElement = make
  }
}
