import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { opencodeWindow } from './config.ts'

function aHome() {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-opencode-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const write = (name: string, text: string) => {
    mkdirSync(join(home, name, '..'), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  return { home, write, window: (model: string | null, more = {}) => opencodeWindow(model, { HOME: home, ...more }) }
}

const provider = (context: unknown) => ({ provider: { mine: { models: { 'a/b': { limit: { context } } } } } })

test("a model's window is what the person's configuration says, or else the client's list of models", () => {
  const { home, write, window } = aHome()
  expect(window('mine/a/b')).toBeNull()
  expect(window(null)).toBeNull()
  write('.cache/opencode/models.json', JSON.stringify({ mine: { models: { 'a/b': { limit: { context: 1000 } } } } }))
  expect(window('mine/a/b')).toBe(1000)
  write('.config/opencode/opencode.json', JSON.stringify({ model: 'mine/a/b', ...provider(2000) }))
  expect([window('mine/a/b'), window(null), window('mine/c'), window('b')]).toEqual([2000, 2000, null, null])
  write('.config/opencode/opencode.jsonc', `{ // mine\n ${JSON.stringify(provider(3000)).slice(1, -1)}, }`)
  expect(window('mine/a/b')).toBe(3000)
  write('elsewhere/opencode.json', JSON.stringify(provider(4000)))
  expect(window('mine/a/b', { OPENCODE_CONFIG_DIR: join(home, 'elsewhere') })).toBe(4000)
  expect(window('mine/a/b', { XDG_CONFIG_HOME: join(home, 'nowhere') })).toBe(1000)
})

test('what cannot be read, or says nothing of use, tells nothing', () => {
  const { home, write, window } = aHome()
  for (const text of ['', '{"half', '[]', 'null', JSON.stringify(provider('many')), JSON.stringify(provider(-1))]) {
    write('.config/opencode/opencode.json', text)
    expect([text, window('mine/a/b')]).toEqual([text, null])
  }
  execFileSync('mkfifo', [join(home, '.config/opencode/config.json')])
  expect(window('mine/a/b')).toBeNull()
})
