import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../kit/fleet.ts'

interface Locked {
  resolved?: string
  hasInstallScript?: boolean
  optionalDependencies?: Record<string, string>
}

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'))
const { dependencies, devDependencies, allowScripts } = read('package.json')
const locked: Record<string, Locked> = read('package-lock.json').packages
const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

test('the builds for every platform are in the lock file: npm ci refuses it, or installs half, on the others otherwise', () => {
  const named = Object.values(locked).flatMap(each => Object.keys(each.optionalDependencies ?? {}))
  const there = new Set(Object.keys(locked).map(nameOf))
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(name => !there.has(name))).toEqual([])
})

test('the lock file names no registry, so that it works with any', () => {
  expect(Object.values(locked).filter(each => each.resolved)).toEqual([])
})

test('versions are exact', () => {
  const versions = Object.values<string>({ ...dependencies, ...devDependencies })
  expect(versions.filter(version => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
})

test('every install script is allowed or refused in so many words, and only the one of Node is needed', () => {
  const scripted = Object.keys(locked)
    .filter(path => locked[path]!.hasInstallScript)
    .map(nameOf)
  expect(scripted.filter(name => !(name in allowScripts))).toEqual([])
  expect(Object.keys(allowScripts).filter(name => allowScripts[name])).toEqual(['node'])
})
