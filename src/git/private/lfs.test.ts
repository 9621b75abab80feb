import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { advance } from '../advance.ts'
import { commitLeftovers } from '../leftovers.ts'
import type { Within } from '../run.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { folderOf } from './place.ts'

let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }
const AS = ['-c', 'user.name=a', '-c', 'user.email=a@b']
const inside = (...args: string[]) => runGit(worktree, [...AS, ...args])

const nameOf = (content: string) => createHash('sha256').update(content).digest('hex')
const inStore = (gitDir: string, name: string) => join(gitDir, 'lfs/objects', name.slice(0, 2), name.slice(2, 4), name)
const stored = (content: string) => inStore(join(repo.path, '.git'), nameOf(content))
const pointer = (content: string) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${nameOf(content)}\nsize ${content.length}`

/**
 * A shell script that stores and reads files as Git LFS does: in a store below the git directory, then in its
 * alternates.
 */
const STAND_IN = `#!/bin/sh
store=$(git config lfs.storage || echo "$(git rev-parse --absolute-git-dir)/lfs")/objects
path() { echo "$(echo "$1" | cut -c1-2)/$(echo "$1" | cut -c3-4)/$1"; }
if [ "$1" = clean ]; then
  kept=$(mktemp); cat >"$kept"
  name=$(sha256sum "$kept" | cut -d' ' -f1)
  mkdir -p "$(dirname "$store/$(path "$name")")"; cp "$kept" "$store/$(path "$name")"
  printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n' "$name" "$(stat -c %s "$kept")"
  rm "$kept"
else
  told=$(cat); name=$(echo "$told" | sed -n 's/^oid sha256://p')
  behind=$(dirname "$(cat "$(git rev-parse --git-path objects)/info/alternates" 2>/dev/null)")/lfs/objects
  for file in "$store/$(path "$name")" "$behind/$(path "$name")"; do
    [ -f "$file" ] && exec cat "$file"
  done
  echo "$told"
fi
`

const HAS_LFS = (() => {
  try {
    return execFileSync('git', ['lfs', 'version']).length > 0
  } catch {
    console.log('git-lfs is not installed: only its stand-in is tried')
    return false
  }
})()

describe.each([['a stand-in', false], ...(HAS_LFS ? [['Git LFS itself', true] as const] : [])] as const)(
  '%s',
  (_, real) => {
    beforeEach(async () => {
      repo = await aRepository({ files: { a: 'one\n' } })
      worktree = join(repo.root, 'home/worktrees/p/w')
      const program = join(repo.root, 'stand-in')
      writeFileSync(program, STAND_IN, { mode: 0o755 })
      if (real) await repo.git('lfs', 'install', '--local')
      else for (const act of ['clean', 'smudge']) await repo.git('config', `filter.lfs.${act}`, `${program} ${act}`)
      await repo.git('config', 'filter.lfs.required', 'true')
      await repo.commit('large files', { '.gitattributes': '*.bin filter=lfs -text\n', 'first.bin': 'the first\n' })
      expect(await repo.readOn('main', 'first.bin')).toBe(pointer('the first\n'))
    })
    afterEach(() => repo.remove())
    const add = async (more = {}) =>
      addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN, ...more })
    const collect = (within?: Within) => commitLeftovers({ worktree, branch, message: 'Leftovers\n', within })

    test('files are there, new ones come into the project’s store, and landing has them', async () => {
      await add()
      expect(readFileSync(join(worktree, 'first.bin'), 'utf8')).toBe('the first\n')
      expect(await inside('status', '--porcelain')).toBe('')
      writeFileSync(join(worktree, 'committed.bin'), 'by the agent\n')
      await inside('add', '-A')
      await inside('commit', '--quiet', '-m', 'by the agent')
      // Its own git takes the file from the project, as a copy or from the store behind its own.
      await inside('rm', '--quiet', 'first.bin')
      await inside('checkout', '--quiet', 'HEAD', '--', 'first.bin')
      expect(readFileSync(join(worktree, 'first.bin'), 'utf8')).toBe('the first\n')
      writeFileSync(join(worktree, 'left.bin'), 'left\n')
      expect(existsSync(stored('by the agent\n'))).toBe(false)
      const { tip, problem } = await collect()
      expect(problem).toBeUndefined()
      expect((await repo.git('diff', '--name-only', 'main', branch)).split('\n')).toEqual(['committed.bin', 'left.bin'])
      for (const content of ['by the agent\n', 'left\n']) expect(readFileSync(stored(content), 'utf8')).toBe(content)
      expect(statSync(stored('by the agent\n')).nlink).toBe(1)
      expect(await inside('status', '--porcelain')).toBe('')
      const from = await repo.tip()
      expect(await advance(await repo.open(), { branch: 'main', from, to: tip })).toEqual({ moved: true })
      expect(await repo.read('committed.bin')).toBe('by the agent\n')
      expect(await repo.read('left.bin')).toBe('left\n')
      expect(await repo.git('status', '--porcelain')).toBe('')
    })

    test('inside walls nothing is different', async () => {
      const within: Within = argv => ['/usr/bin/env', 'WALLED=1', ...argv]
      await add({ within })
      writeFileSync(join(worktree, 'left.bin'), 'left\n')
      await collect(within)
      expect(await repo.readOn(branch, 'left.bin')).toBe(pointer('left\n'))
      expect(readFileSync(stored('left\n'), 'utf8')).toBe('left\n')
    })

    test('a file under a false name, or a link, does not come in, and a person is told', async () => {
      await add()
      writeFileSync(join(worktree, 'x.bin'), 'x\n')
      await inside('add', '-A')
      await inside('commit', '--quiet', '-m', 'x')
      const session = join(folderOf(worktree), 'git')
      const secret = join(repo.root, 'secret')
      writeFileSync(secret, 'of the person\n')
      const plant = (name: string, make: (file: string) => void) => {
        const file = inStore(session, name)
        mkdirSync(join(file, '..'), { recursive: true })
        make(file)
      }
      plant(nameOf('something'), file => writeFileSync(file, 'something else'))
      plant(nameOf('of the person\n'), file => symlinkSync(secret, file))
      expect((await collect()).problem).toContain('Git LFS')
      expect(existsSync(stored('x\n'))).toBe(true)
      expect(existsSync(stored('something'))).toBe(false)
      expect(existsSync(stored('of the person\n'))).toBe(false)
      expect(readdirSync(join(repo.path, '.git/lfs')).filter(name => name.startsWith('incoming'))).toEqual([])
    })

    test('a store elsewhere is the one that is used', async () => {
      const store = join(repo.root, 'store')
      await repo.git('config', 'lfs.storage', store)
      await repo.commit('second', { 'second.bin': 'the second\n' })
      await add()
      expect(readFileSync(join(worktree, 'second.bin'), 'utf8')).toBe('the second\n')
      writeFileSync(join(worktree, 'committed.bin'), 'by the agent\n')
      await inside('add', '-A')
      await inside('commit', '--quiet', '-m', 'by the agent')
      const name = nameOf('by the agent\n')
      const there = join(store, 'objects', name.slice(0, 2), name.slice(2, 4), name)
      expect(existsSync(there)).toBe(false)
      expect((await collect()).problem).toBeUndefined()
      expect(readFileSync(there, 'utf8')).toBe('by the agent\n')
    })
  },
)
