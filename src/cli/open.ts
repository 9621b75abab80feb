import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { which } from '../agents/detect.ts'
import { startInBackground } from '../daemon/background.ts'
import { answeringServer } from '../daemon/running.ts'
import { type Home, OPEN_PAGE, openHome } from '../platform/home.ts'
import { openKeys } from '../platform/keys.ts'
import { signInUrl } from '../platform/tokens.ts'
import type { Cli } from './command.ts'
import { homeHere } from './server.ts'

/** Opens the dashboard in the person's browser, or prints the link where there is none. */
export async function openDashboard({ terminal, where }: Cli, { link }: { link: boolean }): Promise<undefined> {
  const home = openHome(homeHere(where, 'fleet open'))
  const running = (await answeringServer(home)) ?? (await startInBackground(home, where))
  const sign_in_url = await signInUrl(openKeys(home), running.url, Date.now())
  const opener = link || terminal.json ? undefined : await openerFor(where.env)
  const opened = opener !== undefined && (await isOpened(opener, pageThatLeadsTo(home, sign_in_url), where.env))
  terminal.tell({ url: running.url, sign_in_url, opened }, () => {
    if (!opened) return terminal.print(sign_in_url)
    terminal.print(`Opened ${running.url} in your browser.`)
    terminal.note(`If no page appears, open this link within ten minutes: ${sign_in_url}`)
  })
}

/** The program that opens a page in the person's browser; undefined: there is no screen here. */
async function openerFor(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (process.platform === 'darwin') return env.SSH_CONNECTION ? undefined : which('open', env)
  return env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER ? which('xdg-open', env) : undefined
}

/**
 * A page that only this user can read. Other users of the machine see the arguments of every program, so the link
 * itself must not be one.
 */
function pageThatLeadsTo(home: Home, link: string): string {
  const path = join(home.path, OPEN_PAGE)
  rmSync(path, { force: true })
  const text = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${link}">\n`
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
  return path
}

const PATIENCE_MS = 5000

/** Whether the program took it. One that is still at work after a while has. */
function isOpened(program: string, page: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise(resolve => {
    const child = spawn(program, [page], { stdio: 'ignore', detached: true, env })
    const patience = setTimeout(() => resolve(true), PATIENCE_MS)
    const over = (answer: boolean): void => {
      clearTimeout(patience)
      resolve(answer)
    }
    child.once('error', () => over(false)).once('exit', code => over(code === 0))
    child.unref()
  })
}
