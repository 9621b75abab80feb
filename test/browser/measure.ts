import type { Locator, Page } from 'playwright-core'

/** What a person still feels as immediate. */
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
  /** The longest stretch of work for which the page could not answer: time of the processor, so that what other programs take from it does not count. */
  busy: number
  /** The same by the clock on the wall. */
  wall: number
}

/** Two frames later everything that was begun has been drawn. */
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

/** Until nothing has moved for some frames: what was scrolled to is there, and so is what was read for it. */
export const atRest = (scrolled: Locator): Promise<void> => scrolled.evaluate(AT_REST)

/** For how long the page did not answer, at most, while a person did this; in ms. */
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
