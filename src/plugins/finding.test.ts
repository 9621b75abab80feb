import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findPlugins, settingsOf } from './finding.ts'

function aHome(files: Record<string, string>): string {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-finding-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    const file = join(home, 'plugins', name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return home
}

const fileOf = (home: string, configured: string[], name: string): string | undefined =>
  findPlugins(home, configured)
    .find(each => each.name === name)
    ?.file?.slice(join(home, 'plugins/').length)

test.each([
  ['a file that exports names', { exports: './x.js' }, 'x.js'],
  ['the way in for import', { exports: { '.': { types: './x.d.ts', import: './x.js', require: './x.cjs' } } }, 'x.js'],
  ['a way in for require alone', { exports: { '.': { require: './x.cjs' } } }, 'x.cjs'],
  ['conditions within conditions', { exports: { '.': { node: { default: './x.js' } } } }, 'x.js'],
  ['a main', { main: './lib/main.js' }, 'lib/main.js'],
  ['a main without its ending', { main: 'lib/main' }, 'lib/main.js'],
  ['a main that is a folder', { main: './lib' }, 'lib/index.js'],
  ['nothing at all', {}, 'index.js'],
])('a package that names %s is found where it begins', (_, manifest, file) => {
  const folder = 'node_modules/some-plugin'
  const files = ['x.js', 'x.cjs', 'lib/main.js', 'lib/index.js', 'index.js']
  const home = aHome({
    [`${folder}/package.json`]: JSON.stringify(manifest),
    ...Object.fromEntries(files.map(name => [`${folder}/${name}`, ''])),
  })
  expect(fileOf(home, ['some-plugin'], 'some-plugin')).toBe(`${folder}/${file}`)
})

test('a folder that is a link is a plugin like any other', () => {
  const home = aHome({ 'real.js': '' })
  const elsewhere = aHome({ 'mine/index.ts': '' })
  symlinkSync(join(elsewhere, 'plugins/mine'), join(home, 'plugins/mine'))
  symlinkSync('/nowhere/at/all', join(home, 'plugins/gone'))
  expect(fileOf(home, [], 'mine')).toBe('mine/index.ts')
  expect(fileOf(home, [], 'real')).toBe('real.js')
  expect(fileOf(home, [], 'gone')).toBeUndefined()
})

test('settings that are no JSON are refused by the name of their file', () => {
  const home = aHome({ 'a.json': '{oops', 'b.json': '[]', 'c.json': '{"url": "x"}' })
  expect(() => settingsOf(home, 'a')).toThrow('a.json is not JSON: ')
  expect(() => settingsOf(home, 'b')).toThrow('b.json must hold an object.')
  expect([settingsOf(home, 'c'), settingsOf(home, 'd')]).toEqual([{ url: 'x' }, {}])
})
