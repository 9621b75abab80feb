import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

interface Diff {
  text: string
  truncated: boolean
  files: { path: string; change: string; from?: string; added: number | null; deleted: number | null }[]
}

const story = Array.from({ length: 40 }, (_, n) => `line ${n + 1}\n`).join('')
const CHANGES = [
  'sed -i "s/^line 20$/the twentieth/" story.txt',
  'git mv old.txt new.txt && echo more >> new.txt',
  'printf "\\\\000\\\\001" > picture.bin',
  'seq 1 400000 > long.txt',
].join('; ')
const files = { 'story.txt': story, 'old.txt': story, 'dir/inner.txt': 'inner\n' }

test('a diff of megabytes is looked through file by file', async () => {
  const { fleet, project } = await aScene({ repository: { files }, project: { landing: 'review' } })
  const { id } = await fleet.mission(project, CHANGES)
  await fleet.until(id, 'review')
  const diff = (wish: object = {}) => fleet.call<Diff>('diff_mission', { mission_id: id, ...wish })

  const list = await diff({ text: false })
  expect(list).toMatchObject({ text: '', truncated: false, added: 400_002, deleted: 1, files_omitted: 0 })
  expect(list.files.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: 'long.txt', change: 'added', added: 400_000, deleted: 0 },
    { path: 'new.txt', from: 'old.txt', change: 'renamed', added: 1, deleted: 0 },
    { path: 'picture.bin', change: 'added', added: null, deleted: null },
    { path: 'story.txt', change: 'modified', added: 1, deleted: 1 },
  ])
  expect((await diff()).truncated).toBe(true)
  const long = await diff({ path: 'long.txt' })
  expect(long).toMatchObject({ truncated: false, files: [{ path: 'long.txt' }] })
  expect(long.text).toContain('\n+400000\n')
  const renamed = (await diff({ path: 'new.txt' })).text
  expect(renamed).toContain('rename from old.txt')
  expect(renamed).toContain('+more')
  expect((await diff({ path: 'story.txt' })).text).not.toContain('line 10')
  expect((await diff({ path: 'story.txt', context: 10 })).text).toContain('line 10')
  await expect(diff({ path: 'dir/inner.txt' })).rejects.toThrow(/no changed file/)
  await expect(diff({ path: '*' })).rejects.toThrow(/no changed file/)
  const told = await fleet.fleetCommand(['diff', id, 'story.txt', '-U', '0'])
  expect(told.stdout).toContain('+the twentieth')
  expect(told.stdout).not.toContain('\n line 19\n')
  expect((await fleet.fleetCommand(['diff', id, '--stat'])).stdout).toMatch(/renamed +1 +0 +old.txt → new.txt/)
})

test('what a diff leaves out can be read from both sides, also while the agent works; nothing else can', async () => {
  const { fleet, project, gate } = await aScene({ repository: { files } })
  const waiting = gate('waiting')
  const { id } = await fleet.mission(project, `${CHANGES}; ${waiting.wait}`)
  await eventually('the agent to have done it', async () => waiting.reached())
  const { sessions, session_id } = await fleet.show(id)
  const { worktree } = sessions[0]!
  const read = (path: string, more: object = {}) =>
    fleet.call<{ lines: string[] | null; total_lines: number }>('read_file_at', { session_id, path, ...more })

  const both = async () => {
    expect(await read('story.txt', { side: 'base', from: 20, count: 2 })).toEqual({
      ...{ lines: ['line 20', 'line 21'], first_line: 20, total_lines: 40 },
    })
    expect((await read('story.txt', { from: 20, count: 1 })).lines).toEqual(['the twentieth'])
    expect((await read('old.txt', { side: 'base', from: 40 })).lines).toEqual(['line 40'])
    expect((await read('story.txt', { from: 100 })).lines).toEqual([])
    expect((await read('dir/inner.txt')).lines).toEqual(['inner'])
    expect((await read('picture.bin')).lines).toBeNull()
    await expect(read('old.txt')).rejects.toThrow(/no file/)
    await expect(read('dir')).rejects.toThrow(/no file/)
    for (const path of ['/etc/passwd', '../x', 'dir/../../x', '.git/config', './story.txt', 'a\0b'])
      for (const side of ['base', 'work']) await expect(read(path, { side })).rejects.toThrow(/inside the worktree/)
  }
  await both()

  const secret = join(fleet.root, 'secret')
  writeFileSync(secret, 'secret\n')
  symlinkSync(secret, join(worktree!, 'link.txt'))
  symlinkSync(fleet.root, join(worktree!, 'linked'))
  await expect(read('link.txt')).rejects.toThrow(/no file/)
  await expect(read('linked/secret')).rejects.toThrow(/no file/)
  waiting.open()
  await fleet.until(id, 'done')
  await both()
  await expect(read('link.txt')).rejects.toThrow(/no file/)
  await expect(fleet.call('read_file_at', { path: 'x' })).rejects.toThrow(/a session or a mission/)
})
