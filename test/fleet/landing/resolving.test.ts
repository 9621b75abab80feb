import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

interface Standing {
  in_conflict: boolean
  work: { commit: string }
  base: { commit: string }
  files: {
    path: string
    about: string
    sides: { base: string; work: string }
    choices: string[]
    regions: { line: number; base: string; work: string; cut: boolean }[]
  }[]
}

const POEM = Array.from({ length: 20 }, (_, n) => `line ${n + 1}\n`).join('')

/** A mission whose agent does not resolve conflicts, in conflict with what a person committed on main. */
async function inConflict({ fleet, repo, project }: Scene, work: string, theirs: () => Promise<unknown>) {
  const script = `if [ "$FLEET_REASON" != first ]; then echo I do not know; exit; fi; ${work}`
  const { id } = await fleet.mission(project, script, { landing: 'review' })
  await fleet.until(id, 'review')
  await theirs()
  await fleet.land(id)
  const mission = await eventually('it is in conflict', async () => {
    const now = await fleet.show(id)
    return now.status === 'review' && now.status_reason?.code === 'conflict' ? now : undefined
  })
  const post = async (body: object) => {
    const answer = await fleet.http(`/api/missions/${id}/conflict/resolve`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    return { status: answer.status, said: JSON.stringify(await answer.json()) }
  }
  const standing = () => fleet.call<Standing>('get_conflict', { mission_id: id })
  return {
    id,
    worktree: mission.sessions.at(-1)!.worktree!,
    standing,
    post,
    resolve: async (files: object[]) => {
      const { work: mine, base } = await standing()
      return post({ expected: mine.commit, base: base.commit, files })
    },
    landed: async () => {
      await fleet.land(id)
      await fleet.until(id, 'done')
      return repo.tip()
    },
  }
}

test('a conflict is resolved place by place: the result is a candidate of its own, and lands once it is approved', async () => {
  const scene = await aScene({ repository: { files: { 'poem.txt': POEM } } })
  const { fleet, repo } = scene
  const edits = [3, 8, 13, 18].map(n => `s/^line ${n}$/mine ${n}/`).join('; ')
  const { id, worktree, standing, post, resolve, landed } = await inConflict(scene, `sed -i "${edits}" poem.txt`, () =>
    repo.commit('theirs', {
      'poem.txt': POEM.replace(/^line (3|8|13|18)$/gm, 'theirs $1'),
      'other.txt': 'other\n',
    }),
  )
  const found = await standing()
  expect(found.files).toMatchObject([
    {
      path: 'poem.txt',
      about: 'Both sides changed the same lines.',
      sides: { base: 'file', work: 'file' },
      choices: ['places', 'base', 'work'],
      regions: [3, 8, 13, 18].map(n => ({ line: n, base: `theirs ${n}`, work: `mine ${n}`, cut: false })),
    },
  ])
  const expected = found.work.commit
  const places = ['base', 'work', 'both', { text: 'ours é' }]
  const all = [{ path: 'poem.txt', places }]
  // Only for the two commits that were shown, and only whole.
  expect((await post({ expected: '0'.repeat(40), base: found.base.commit, files: all })).status).toBe(409)
  expect(await post({ expected, base: expected, files: all })).toMatchObject({
    status: 409,
    said: expect.stringContaining('main has moved since you were shown this conflict'),
  })
  expect((await resolve([{ path: 'poem.txt', places: ['base'] }])).said).toContain(
    'poem.txt has 4 conflicts to resolve',
  )
  expect((await resolve([{ path: 'nope', take: 'base' }])).said).toContain('poem.txt is still in conflict')
  expect((await resolve([...all, { path: 'nope', take: 'base' }])).said).toContain('nope is not in conflict')
  expect((await fleet.show(id)).candidate!.commit).toBe(expected)

  expect(await resolve(all)).toMatchObject({ status: 200 })
  const mission = await fleet.show(id)
  const made = mission.candidate!.commit
  expect(mission).toMatchObject({ status: 'review', approval: null, status_reason: { code: 'resolved' } })
  expect(await repo.git('rev-parse', `${made}^1`, `${made}^2`)).toBe(`${expected}\n${found.base.commit}`)
  const text = await readFile(join(worktree, 'poem.txt'), 'utf8')
  expect(text.split('\n').filter(line => !line.startsWith('line '))).toEqual([
    ...['theirs 3', 'mine 8', 'theirs 13', 'mine 13', 'ours é', ''],
  ])
  const inside = (...args: string[]) => execFileSync('git', ['-C', worktree, ...args], { encoding: 'utf8' }).trim()
  expect([inside('status', '--porcelain'), inside('rev-parse', 'HEAD')]).toEqual(['', made])
  expect(await standing()).toMatchObject({ in_conflict: false })
  // What its agent had left in the middle of the merge is kept.
  const kept = await repo.git('for-each-ref', '--format=%(refname)', 'refs/fleet/sessions')
  const aside = kept.split('\n').find(ref => ref.includes('/set-aside/'))!
  expect(await repo.readOn(aside, 'poem.txt')).toContain('<<<<<<<')

  const tip = await landed()
  expect(await repo.readOn(tip, 'poem.txt')).toBe(text.trimEnd())
  expect(await repo.git('diff', '--name-only', `${tip}^`, tip)).toBe('poem.txt')
})

test('names that are not UTF-8, files that are not text, and files that one side deleted are said in words and resolved', async () => {
  const scene = await aScene({ repository: { files: { 'kept.txt': 'k\n', 'gone.txt': 'g\n', 'README.md': 'r\n' } } })
  const { repo } = scene
  const latin = Buffer.concat([Buffer.from(`${repo.path}/caf`), Buffer.from([0xe9])])
  const { writeFileSync } = await import('node:fs')
  const commitAll = async () => {
    await repo.git('add', '-A')
    await repo.git('commit', '--quiet', '-m', 'theirs')
  }
  writeFileSync(latin, 'original\n')
  writeFileSync(join(repo.path, 'logo.png'), Buffer.from([0, 1, 2]))
  await commitAll()
  const work = `printf 'mine\\n' > "$(printf 'caf\\351')"; printf '\\000mine' > logo.png; rm kept.txt; echo mine > gone.txt`
  const { standing, resolve, landed } = await inConflict(scene, work, async () => {
    writeFileSync(latin, 'theirs\n')
    writeFileSync(join(repo.path, 'logo.png'), Buffer.from([0, 9]))
    writeFileSync(join(repo.path, 'kept.txt'), 'theirs\n')
    await repo.git('rm', '--quiet', 'gone.txt')
    await commitAll()
  })
  const { files } = await standing()
  expect(Object.fromEntries(files.map(({ path, about, choices }) => [path, [about, choices]]))).toEqual({
    'caf\\xe9': ['Both sides changed the same lines.', ['places', 'base', 'work']],
    'logo.png': [expect.stringContaining('It is not text'), ['base', 'work']],
    'kept.txt': ['This work deleted or renamed the file; main changed it.', ['base', 'work']],
    'gone.txt': ['main deleted or renamed this file; this work changed it.', ['base', 'work']],
  })
  const some = [
    { path: 'caf\\xe9', places: ['both'] },
    { path: 'logo.png', take: 'work' },
    { path: 'kept.txt', take: 'base' },
  ]
  expect((await resolve([...some, { path: 'gone.txt', places: ['base'] }])).said).toContain('take one side')
  expect(await resolve([...some, { path: 'gone.txt', take: 'base' }])).toMatchObject({ status: 200 })
  const tip = await landed()
  expect((await repo.git('-c', 'core.quotePath=true', 'ls-tree', '-r', '--name-only', tip)).split('\n')).toEqual([
    ...['README.md', '"caf\\351"', 'kept.txt', 'logo.png'],
  ])
  expect(await repo.readOn(tip, 'kept.txt')).toBe('theirs')
  expect(await repo.git('cat-file', 'blob', `${tip}:logo.png`)).toContain('mine')
  const [, oid] = /blob (\S+)\t"caf/.exec(await repo.git('-c', 'core.quotePath=true', 'ls-tree', tip))!
  expect(await repo.git('cat-file', 'blob', oid!)).toBe('theirs\nmine')
})
