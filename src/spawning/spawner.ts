// A small process that starts programs for a large one. It ends with the large one, but only after the programs that it
// was asked to run to their end: a git that loses its output half-way stops half-way. Programs it only started keep
// running.
import { type Detached, type Program, runHere, startHere } from './program.ts'

export type Order = { id: number; run: Program } | { id: number; start: Detached }
/** No order has this number: the message says that orders are accepted. */
const READY = 0

export type Word =
  | { id: typeof READY }
  | { id: number; ran: Awaited<ReturnType<typeof runHere>> }
  | { id: number; pid: number }
  | { id: number; failure: string }
  | { id: number; over: true }

process.on('message', (order: Order) => void obey(order))
process.on('disconnect', leave)

let running = 0
say({ id: READY })

async function obey(order: Order): Promise<void> {
  const { id } = order
  if ('run' in order) {
    running++
    say({ id, ran: await runHere(order.run) })
    running--
    return leave()
  }
  try {
    const { pid, over } = await startHere(order.start)
    say({ id, pid })
    await over
    say({ id, over: true })
  } catch (error) {
    say({ id, failure: (error as Error).message })
  }
}

function leave(): void {
  if (!process.connected && running === 0) process.exit()
}

function say(word: Word): void {
  if (process.connected) process.send!(word)
}
