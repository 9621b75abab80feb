import type { Browser, Page } from 'playwright-core'
import { AT_ONCE_MS, type Measured } from '../test/browser/measure.ts'
import { fillBoard, measureBoard } from '../test/browser/measure-board.ts'
import { aLongSession, measureTranscript } from '../test/browser/measure-transcript.ts'
import { aBrowser, comeIn, signInLink } from '../test/browser/opening.ts'
import { aFleet, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, ms, type Row } from './figure.ts'
import { repositories } from './repositories.ts'

const FEW = { missions: 300, events: 3000 }

/** How long the page makes a person wait if there is very much of everything, compared with little. */
export const page: Bench = async scale => {
  const many = { missions: scale.of(10_000, 2000), events: scale.of(100_000, 20_000) }
  const browser = await aBrowser()
  try {
    const [little, much] = [await look(browser, FEW), await look(browser, many)]
    return [
      row(`${many.missions} missions: the page does not answer for at most`, much.board, little.board),
      row(`a session of ${many.events} events: the page does not answer for at most`, much.session, little.session),
    ]
  } finally {
    await browser.close()
  }
}

type Looks = Record<'board' | 'session', Record<string, Measured>>

async function look(browser: Browser, size: typeof FEW): Promise<Looks> {
  const [repository] = await repositories(1)
  const fleet = await aFleet()
  try {
    const project = await fleet.project(repository!.path)
    await fleet.call('pause')
    await fillBoard(fleet, project, size.missions)
    const long = await aLongSession(fleet, project, size.events)
    await fleet.start()
    const [opened, visit] = await person(browser, fleet)
    const session = await measureTranscript(opened, visit, long)
    const board = await measureBoard(opened, visit, fleet, size.missions + 1)
    return { board, session }
  } finally {
    await fleet.remove()
    await repository!.remove()
  }
}

async function person(browser: Browser, fleet: TestFleet): Promise<[Page, (path: string) => Promise<void>]> {
  const link = await signInLink(fleet)
  const opened = await browser.newPage({ viewport: { width: 1280, height: 860 } })
  await comeIn(opened, link)
  return [opened, async path => void (await opened.goto(new URL(path, link).href))]
}

/** The action that kept the page busy longest, in processor time, so that other programs do not count. */
function row(figure: string, much: Record<string, Measured>, little: Record<string, Measured>): Row {
  const longest = (of: Record<string, Measured>): [string, Measured] =>
    Object.entries(of).sort(([, a], [, b]) => b.busy - a.busy)[0]!
  const [act, { busy, wall }] = longest(much)
  const [floorAct, floor] = longest(little)
  return {
    figure,
    measured: `${ms(busy)} (${act}; ${ms(wall)} by the clock)`,
    floor: `with few: ${ms(floor.busy)} (${floorAct})`,
    demanded: `≤ ${AT_ONCE_MS} ms`,
    met: busy <= AT_ONCE_MS,
  }
}
