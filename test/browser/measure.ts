import type { Locator, Page } from 'playwright-core'

/** What still feels immediate to a person. */
export const AT_ONCE_MS = 100

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  ts: number
  /** How long it took, and how much of that this thread worked, in µs. */
  dur?: number
  tdur?: number
  args?: { name?: string }
}

export interface Measured {
  /**
   * The longest work during which the page could not respond, in processor time, so that other programs do not count.
   */
  busy: number
  /** The same in real time. */
  wall: number
}

/** After two frames, everything that was begun is drawn. */
export const DRAWN = 'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))'

const AT_REST = `async element => {
  let before = '', still = 0
  while (still < 20) {
    await new Promise(requestAnimationFrame)
    const now = element.scrollTop + ' ' + element.scrollHeight
    still = now === before ? still + 1 : 0
    before = now
  }
}`

/** Waits until nothing has moved for some frames: the target is visible, and its content is loaded. */
export const atRest = (scrolled: Locator): Promise<void> => scrolled.evaluate(AT_REST)

/** The longest time in ms for which the page did not respond during this action. */
export async function unresponsive(page: Page, act: () => Promise<unknown>): Promise<Measured> {
  const browser = page.context().browser()!
  await page.evaluate(DRAWN)
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] })
  let trace: Buffer
  try {
    await act()
    await page.evaluate(DRAWN)
  } finally {
    trace = await browser.stopTracing()
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const pages = new Set(
    traceEvents.filter(each => each.name === 'thread_name' && each.args?.name === 'CrRendererMain').map(threadOf),
  )
  const tasks = traceEvents.filter(each => each.ph === 'X' && /RunTask$/.test(each.name) && pages.has(threadOf(each)))
  if (tasks.length === 0) throw new Error('The browser told of no work at all.')
  const longest = (of: (task: TraceEvent) => number) => Math.round(Math.max(...tasks.map(of)) / 1000)
  return { busy: longest(task => task.tdur ?? task.dur ?? 0), wall: longest(task => task.dur ?? 0) }
}

const threadOf = ({ pid, tid }: TraceEvent): string => `${pid}:${tid}`
