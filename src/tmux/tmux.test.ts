import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Tmux } from './tmux.ts'

test('the name of a folder is no word of tmux: it runs nothing, and the program starts there', async context => {
  const home = mkdtempSync(join(tmpdir(), 'tmux-'))
  const tmux = new Tmux(home, { PATH: process.env.PATH!, HOME: home, TERM: 'xterm' })
  if (!(await tmux.isInstalled())) context.skip()
  const made = join(home, 'made')
  for (const [n, name] of [`a#(touch ${made})b`, '#{pid}', '##', 'end;', '#[x]', '##[x]', 'a b'].entries()) {
    const folder = join(home, name)
    mkdirSync(folder, { recursive: true })
    const [window, said] = [`w${n}`, join(home, `said-${n}`)]
    onTestFinished(() => tmux.close(window))
    await tmux.open(window, folder, ['/bin/sh', '-c', `pwd > ${said}; exec sleep 60`])
    await vi.waitFor(() => expect(readFileSync(said, 'utf8')).toBe(`${folder}\n`), 10_000)
  }
  expect(existsSync(made)).toBe(false)
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
})
