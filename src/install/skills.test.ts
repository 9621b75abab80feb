import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { carryOut, clientNamed } from './install.ts'
import { SKILL_CLIENTS } from './names.ts'
import { skillFiles, skillsHere } from './skills.ts'

const ROUNDS = process.env.FLEET_TEST_SCALE === 'full' ? 400 : 40

function aPlace() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-skills-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const folders = { user: join(root, 'user'), project: join(root, 'project'), env: {} }
  for (const folder of [folders.user, folders.project, join(root, 'home')]) mkdirSync(folder)
  const home = join(root, 'home')
  const plan = (wish: 'install' | 'remove' | 'look', scope: 'user' | 'project' = 'user') =>
    skillFiles(SKILL_CLIENTS, folders, home, { scope, wish })
  const run = (wish: 'install' | 'remove', scope: 'user' | 'project' = 'user') =>
    carryOut(
      home,
      plan(wish, scope).flatMap(({ change }) => change ?? []),
    )
  const folderOf = (client: (typeof SKILL_CLIENTS)[number], scope: 'user' | 'project' = 'user') =>
    clientNamed(client).skills[scope]!(folders)
  return { root, folders, home, plan, run, folderOf }
}

/** Every file, folder and link below a folder, with its bytes. */
function everythingIn(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name)
    const info = lstatSync(path)
    found[name] = info.isSymbolicLink()
      ? `-> ${readlinkSync(path)}`
      : info.isDirectory()
        ? 'folder'
        : readFileSync(path, 'latin1')
  }
  return found
}

/** The same numbers every time, so that a failure can be reproduced. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
}

describe('the skills', () => {
  test('each says when to use it, and is named as its folder', () => {
    const skills = skillsHere()
    expect(skills.map(({ name }) => name)).toEqual([
      'flotilla-commands',
      'flotilla-monitoring',
      'flotilla-spec-create',
      'flotilla-spec-execute',
      'flotilla-spec-interview',
      'flotilla-supervision',
    ])
    for (const { name, text, summary } of skills) {
      expect(text).toContain(`---\nname: ${name}\ndescription: `)
      expect(summary).toMatch(/Use (when|to)|when asked/)
    }
  })

  test('everything that was there stays byte for byte, whatever it was', () => {
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const random = seeded(seed * 7919)
      const { root, folders, plan, run, folderOf } = aPlace()
      plant(root, folders.user, random, folderOf)
      const before = everythingIn(folders.user)
      const kept = plan('install').filter(({ state }) => state === 'changed')
      run('install')
      const files = plan('look')
      for (const { state, file } of files)
        expect(state, `${seed} ${file}`).toBe(kept.some(each => each.file === file) ? 'changed' : 'ours')
      const between = everythingIn(folders.user)
      for (const [name, bytes] of Object.entries(before)) expect(between[name], `${seed} ${name}`).toBe(bytes)
      run('install')
      expect(everythingIn(folders.user)).toEqual(between)
      run('remove')
      expect(everythingIn(folders.user), String(seed)).toEqual(before)
    }
  })

  /** Files of a person in and around the folders of skills, some under the very names of ours, some behind links. */
  function plant(
    root: string,
    user: string,
    random: (below: number) => number,
    folderOf: (client: (typeof SKILL_CLIENTS)[number]) => string,
  ): void {
    for (const client of SKILL_CLIENTS) {
      const folder = folderOf(client)
      const kind = random(5)
      if (kind === 0) continue
      if (kind === 1) {
        // The whole folder is a link, as tools that keep configuration elsewhere make it.
        mkdirSync(dirname(folder), { recursive: true })
        const target = join(user, `dotfiles-${client}`)
        mkdirSync(target)
        symlinkSync(target, folder)
      } else mkdirSync(folder, { recursive: true })
      for (const { name, text } of skillsHere()) {
        const mine = join(folder, name)
        switch (random(7)) {
          case 0:
            mkdirSync(mine)
            writeFileSync(join(mine, 'SKILL.md'), ['', `${text}mine\n`, '\ufeffx\r\n'][random(3)]!)
            break
          case 1:
            mkdirSync(mine)
            writeFileSync(join(mine, 'notes.txt'), 'beside it')
            break
          case 2:
            mkdirSync(mine)
            break
          case 3: {
            const target = join(user, `elsewhere-${client}-${name}`)
            writeFileSync(target, 'behind a link')
            mkdirSync(mine)
            symlinkSync(target, join(mine, 'SKILL.md'))
            break
          }
        }
      }
      mkdirSync(join(folder, 'my-skill'))
      writeFileSync(join(folder, 'my-skill', 'SKILL.md'), Buffer.from([0xff, 0x00, 0x0d]))
    }
    expect(existsSync(root)).toBe(true)
  }

  test('what a person changed afterwards stays, and is named', () => {
    const { plan, run } = aPlace()
    run('install')
    const [first, second] = plan('look')
    writeFileSync(first!.file, 'my own words\n')
    rmSync(second!.file)
    expect(plan('look').map(({ state }) => state)).toEqual(['changed', 'absent', ...Array(16).fill('ours')])
    const removing = plan('remove')
    expect(removing.filter(({ state }) => state === 'changed').map(({ file }) => file)).toEqual([first!.file])
    run('remove')
    expect(readFileSync(first!.file, 'utf8')).toBe('my own words\n')
    expect(plan('look').filter(({ state }) => state !== 'absent')).toHaveLength(1)
    // It is told again for as long as it is there.
    expect(plan('remove').filter(({ state }) => state === 'changed')).toHaveLength(1)
  })

  test('an older text of ours is replaced, and one that changes while we ask is not', () => {
    const { home, plan, run } = aPlace()
    run('install')
    const [first] = plan('look')
    const memory = join(home, 'mcp-clients.json')
    const memories = JSON.parse(readFileSync(memory, 'utf8'))
    memories[first!.file].text = 'of an earlier version\n'
    writeFileSync(memory, JSON.stringify(memories))
    writeFileSync(first!.file, 'of an earlier version\n')
    expect(plan('look')[0]!.state).toBe('older')
    run('install')
    expect(plan('look')[0]!.state).toBe('ours')

    for (const wish of ['install', 'remove'] as const) {
      memories[first!.file].text = 'again an earlier one\n'
      writeFileSync(memory, JSON.stringify(memories))
      writeFileSync(first!.file, 'again an earlier one\n')
      const planned = plan(wish).flatMap(({ change }) => change ?? [])
      writeFileSync(first!.file, 'changed meanwhile\n')
      expect(() => carryOut(home, planned)).toThrow('Someone else changed')
      expect(readFileSync(first!.file, 'utf8')).toBe('changed meanwhile\n')
    }
  })

  test('in a project, no link leads out of it', () => {
    const { root, folders, plan, run, folderOf } = aPlace()
    run('install', 'project')
    expect(plan('look', 'project').every(({ file }) => file.startsWith(folders.project))).toBe(true)
    run('remove', 'project')
    expect(everythingIn(folders.project)).toEqual({})

    const outside = join(root, 'outside')
    mkdirSync(outside)
    mkdirSync(dirname(folderOf('claude', 'project')), { recursive: true })
    symlinkSync(outside, folderOf('claude', 'project'))
    expect(() => plan('install', 'project')).toThrow(/outside of the project; nothing was written/)
    expect(readdirSync(outside)).toEqual([])
  })
})
