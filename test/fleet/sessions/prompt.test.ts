import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, ROOT } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

const HOSTILE = [
  '$(touch PWNED)',
  '`touch PWNED`',
  "'; touch PWNED; echo '",
  '"; touch PWNED; echo "',
  '\\"; touch PWNED #',
  '--upload-pack=touch PWNED',
  '-rf',
  '../../../PWNED',
  'two\nlines\n\nFleet-Mission: somebody-else',
  'a\ttab, a \\, %s %n {} * ? [x] ~ ^ : @{u} HEAD',
  'ünïcode ‮ right to left 🚢 ﷽',
  '🚢',
  'refs/heads/main',
  '.lock',
]

/** Files under these folders that exist only if a shell ran a hostile text. */
function pwned({ fleet, repo }: Scene): Promise<string[]> {
  return eventually('a look while nothing is being tidied away', () => {
    try {
      const found = [fleet.root, repo.root].flatMap(folder =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' }),
      )
      return [...found, ...readdirSync(ROOT), ...readdirSync(process.cwd())].filter(path => /(^|\/)PWNED$/.test(path))
    } catch (error) {
      // The worktree of landed work is removed in the background.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  })
}

test('a prompt of 200 kB arrives byte for byte, as script and as prompt', async () => {
  const { fleet, project } = await aScene()
  const keep =
    'cat "$0" > "$FLEET_ARTIFACT_DIR/script"; cat "$FLEET_PROMPT_FILE" > "$FLEET_ARTIFACT_DIR/prompt"; echo x > x.txt; exit 0\n'
  const nasty = `${HOSTILE.join('\n')}\r\n'''""" \${HOME} $$ \u0001\u007f\u2028 \ud83d\udea2 \ufeff\n\n`
  const prompt = `${keep + nasty.repeat(Math.ceil(200_000 / Buffer.byteLength(nasty)))}\n\n  `
  expect(Buffer.byteLength(prompt)).toBeGreaterThan(200_000)

  const answer = await fleet.http('/api/missions', {
    method: 'POST',
    body: JSON.stringify({
      project_id: project.id,
      title: 'long',
      agent: 'shell',
      detailed_prompt: prompt,
      auto_dispatch: true,
    }),
  })
  const { id } = (await answer.json()) as { id: string }
  const mission = await fleet.until(id, 'done', 'failed')
  expect(mission.result).toBe('landed')
  const artifacts = join(fleet.fleet.home.task(id), 'artifacts')
  for (const copy of ['script', 'prompt'])
    expect(readFileSync(join(artifacts, copy)).equals(Buffer.from(prompt))).toBe(true)
  expect(mission.detailed_prompt).toBe(prompt)
})

test('hostile titles, tags and criteria are text and nothing else', { timeout: 120_000 }, async () => {
  const scene = await aScene()
  const { fleet, repo, project } = scene
  const missions = await Promise.all(
    HOSTILE.map((title, i) =>
      fleet.mission(project, `echo ${i} > ${i}.txt; cat "$FLEET_PROMPT_FILE" >&2`, {
        title,
        tags: [title.slice(0, 60)],
        acceptance_criteria: title,
      }),
    ),
  )
  for (const [i, { id }] of missions.entries()) {
    const mission = await fleet.until(id, 'done', 'failed', 'review')
    expect(mission).toMatchObject({ title: HOSTILE[i], result: 'landed' })
    const [subject, ...rest] = (
      await repo.git('log', '-1', '--format=%s%n%(trailers:key=Fleet-Mission,valueonly)', mission.landed!.commit)
    ).split('\n')
    expect(subject).toBe(HOSTILE[i]!.replace(/\s+/g, ' ').trim())
    expect(rest.filter(Boolean)).toEqual([id])
  }
  expect(await repo.filesOn('main')).toHaveLength(HOSTILE.length + 1)
  expect(await pwned(scene)).toEqual([])
})

test('hostile file names, commit messages and last words of an agent are harmless', async () => {
  const scene = await aScene()
  const { fleet, repo, project } = scene
  const names = HOSTILE.filter(name => !name.includes('/') && name !== '.lock')
  const script = [
    ...names.map(
      (name, i) => `cat > "$FLEET_TASK_DIR/${i}" <<'END'\n${name}\nEND\necho ${i} > "./$(cat "$FLEET_TASK_DIR/${i}")"`,
    ),
    'git add -A',
    `cat > "$FLEET_TASK_DIR/message" <<'END'\n${HOSTILE.join('\n')}\nFleet-Session: forged\nEND`,
    'git commit -q -F "$FLEET_TASK_DIR/message"',
    'cat "$FLEET_TASK_DIR/message"; echo later > later.txt',
    "printf '%s' '$(touch PWNED)\\n--force'",
  ].join('\n')
  const { id } = await fleet.mission(project, script)
  const mission = await fleet.until(id, 'done', 'failed', 'review')
  expect(mission.result).toBe('landed')
  const made = [...names, 'later.txt'].sort()
  expect(mission.report?.files_changed.map(file => file.path).sort()).toEqual(made)
  expect((await repo.filesOn('main')).sort()).toEqual([...made, 'README.md'].sort())
  expect(await repo.git('status', '--porcelain')).toBe('')
  expect(mission.report?.commits).toHaveLength(2)
  const sessions = await repo.git('log', '-1', '--format=%(trailers:key=Fleet-Session,valueonly)', 'main')
  expect(sessions.trim()).toBe(mission.sessions[0]!.id)
  const { text } = await fleet.call<{ text: string }>('diff_mission', { mission_id: id })
  expect(text).toContain('later.txt')
  expect(await pwned(scene)).toEqual([])

  await fleet.call('undo_mission', { mission_id: id })
  await fleet.until(id, 'review')
  expect(await repo.filesOn('main')).toEqual(['README.md'])
})

test.each(['$(touch>PWNED)', 'a\'b"c;touch>PWNED', '--force', '-', 'ünïcode/🚢', 'fleet'])(
  'a base branch named %s, in a folder full of quotes, takes a landing and its undo',
  async branch => {
    const scene = await aScene({ start: false })
    const { fleet, repo } = scene
    await repo.git('update-ref', `refs/heads/${branch}`, 'HEAD')
    await repo.git('symbolic-ref', 'HEAD', `refs/heads/${branch}`)
    await repo.git('update-ref', '-d', 'refs/heads/main')
    const path = join(repo.root, `-x $(touch PWNED) '"\``, 'repo')
    await mkdir(join(path, '..'))
    await rename(repo.path, path)
    await fleet.start()
    const project = await fleet.project(path, {
      name: '$(touch PWNED)',
      checks: [{ name: '--x $(touch PWNED)', command: 'test -e x.txt || test -e README.md' }],
    })
    const { id } = await fleet.mission(project, 'echo x > x.txt')
    const mission = await fleet.until(id, 'done', 'failed', 'review', 'needs_input')
    expect(mission.status_reason).toBe(null)
    expect(mission).toMatchObject({ result: 'landed', landed: { branch } })
    expect(readFileSync(join(path, 'x.txt'), 'utf8')).toBe('x\n')
    await fleet.call('undo_mission', { mission_id: id })
    await fleet.until(id, 'review')
    expect(readdirSync(path).sort()).toEqual(['.git', 'README.md'])
    expect(await pwned(scene)).toEqual([])
  },
)

test.each([
  ['a line break', 'two\nlines'],
  ['bytes that are not UTF-8', Buffer.from('latin-\xe9', 'latin1')],
])('a repository in a folder with %s in its name is refused in so many words', async (what, name) => {
  const scene = await aScene({ start: false })
  const path = Buffer.concat([Buffer.from(`${scene.repo.root}/`), Buffer.from(name)])
  await rename(scene.repo.path, path)
  const why = `has ${what} in its path, so it cannot be a project`
  await expect(scene.fleet.project(path.toString('utf8'))).rejects.toThrow(why)
  await symlink(path, join(scene.repo.root, 'link'))
  await expect(scene.fleet.project(join(scene.repo.root, 'link'))).rejects.toThrow(why)
  const { code, stderr } = await scene.fleet.fleetCommand(['run', '--agent', 'shell', 'true'], {
    cwd: join(scene.repo.root, 'link'),
  })
  expect(code).not.toBe(0)
  expect(stderr).toContain(why)
  expect(stderr).toContain('Rename the folder')
})
