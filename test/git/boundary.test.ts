import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runGit } from '../../src/git/testkit.ts'
import { digestOf } from '../kit/digest.ts'
import { eventually } from '../kit/fleet.ts'
import { SANDBOX_WORKS } from '../kit/sandbox.ts'
import { aScene, type Scene } from '../kit/scene.ts'

const OVER = ['done', 'review', 'failed', 'needs_input']
const KINDS = [['not sandboxed', 'full'], ...(SANDBOX_WORKS ? [['sandboxed', 'implement']] : [])] as [string, string][]

/**
 * What an agent tries from its worktree against everything that git shares between worktrees: ordinary commands, and
 * writes to the places that git names ($G: --git-dir, $C: --git-common-dir).
 */
const SHARED: Record<string, string[]> = {
  refs: [
    'git branch -D feature',
    'git update-ref -d refs/heads/main',
    'git tag -d v1',
    'git update-ref refs/heads/main HEAD~1',
    'git pack-refs --all',
    'echo 1111111111111111111111111111111111111111 >"$C/refs/heads/feature"',
    'rm -f "$C/packed-refs"',
  ],
  stash: ['git stash pop', 'git stash drop', 'git stash clear', 'rm -f "$C/refs/stash" "$C/logs/refs/stash"'],
  logs: [
    'git reflog expire --expire=now --all',
    'printf "0 1 x <x> 0 +0000\\tforged\\n" >>"$C/logs/HEAD"',
    'mkdir -p "$C/logs/refs/heads"; echo forged >>"$C/logs/refs/heads/main"',
  ],
  config: [
    'git config core.fsmonitor "touch stolen"',
    'git config --unset-all user.name',
    'git config --global core.pager x',
    'printf "[core]\\n\\tpager = x\\n" >>"$C/config"',
    'printf "[core]\\n\\tpager = x\\n" >"$G/config.worktree"',
  ],
  hooks: [
    'mkdir -p "$C/hooks"; printf "#!/bin/sh\\ntouch stolen\\n" >"$C/hooks/post-merge"; chmod +x "$C/hooks/post-merge"',
  ],
  attributes: ['mkdir -p "$C/info"; echo "* filter=evil" >"$C/info/attributes"'],
  exclude: ['echo "*" >"$C/info/exclude"'],
  replace: ['git replace "$(git rev-parse HEAD:README.md)" "$(echo other | git hash-object -w --stdin)"'],
  grafts: ['git rev-parse HEAD >"$C/info/grafts"'],
  shallow: ['git rev-parse HEAD >"$C/shallow"'],
  worktrees: ['git worktree add -f ../another HEAD', 'git worktree prune', 'rm -rf "$C/worktrees"'],
  notes: ['git notes add -f -m x HEAD', 'git notes remove HEAD', 'git update-ref -d refs/notes/commits'],
  rerere: ['git rerere clear', 'mkdir -p "$C/rr-cache/x"; echo x >"$C/rr-cache/x/preimage"; rm -rf "$C/rr-cache"'],
  bisect: ['git bisect start', 'git bisect bad HEAD', 'git bisect reset'],
  LFS: ['mkdir -p "$C/lfs/objects/aa"; echo x >"$C/lfs/objects/aa/x"', 'rm -rf "$C/lfs"'],
  submodules: [
    'git submodule deinit -f --all',
    'find "$C/modules" -type f -exec chmod u+w {} + -exec sh -c \'echo x >"$1"\' sh {} \\;',
    'rm -rf "$C/modules"',
  ],
  index: ['git rm -q --cached README.md', 'git update-index --assume-unchanged README.md', 'echo broken >"$G/index"'],
  alternates: ['mkdir -p "$C/objects/info"; echo /nowhere >"$C/objects/info/alternates"'],
  objects: ['git gc --prune=now', 'git repack -ad', 'rm -rf "$C"/objects/??', 'rm -rf "$C/objects/pack"'],
}

/** Files that we write ourselves. Nothing else may differ. */
const isOurs = (path: string): boolean => /^\.git\/(logs\/)?refs\/(heads\/fleet|fleet)(\/|$)/.test(path)

/** A repository with everything that git shares. */
async function everything({ repo, repository }: Scene): Promise<void> {
  const library = await repository({ files: { lib: 'library\n' } })
  await repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.path, 'sm')
  await repo.commit('with a submodule', { 'file.txt': 'one\n' })
  await repo.git('branch', 'feature')
  await repo.git('tag', '-a', '-m', 'one', 'v1')
  await repo.git('notes', 'add', '-m', 'a note')
  await repo.git('config', 'rerere.enabled', 'true')
  mkdirSync(join(repo.path, '.git/rr-cache/1'), { recursive: true })
  writeFileSync(join(repo.path, '.git/rr-cache/1/preimage'), 'mine\n')
  mkdirSync(join(repo.path, '.git/lfs/objects/ab'), { recursive: true })
  writeFileSync(join(repo.path, '.git/lfs/objects/ab/cd'), 'mine\n')
  mkdirSync(join(repo.path, '.git/hooks'), { recursive: true })
  writeFileSync(join(repo.path, '.git/hooks/post-commit'), '#!/bin/sh\nexit 0\n')
  chmodSync(join(repo.path, '.git/hooks/post-commit'), 0o755)
  mkdirSync(join(repo.path, '.git/info'), { recursive: true })
  writeFileSync(join(repo.path, '.git/info/exclude'), 'private.txt\n')
  await repo.git('worktree', 'add', '--quiet', '--detach', join(repo.root, 'theirs'))
  await repo.git('gc', '--quiet')
  await repo.commit('loose', { 'file.txt': 'two\n' })
  await repo.write('file.txt', 'stashed\n')
  await repo.git('stash', 'push', '--quiet')
  await repo.write('private.txt', 'mine\n')
  await repo.write('edited.txt', 'not committed\n')
  await repo.git('add', 'edited.txt')
}

describe.each(KINDS)('%s', (_, tool_preset) => {
  test('whatever an agent does to what git shares, the person’s repository is as it was, byte for byte', async () => {
    const scene = await aScene({ project: { landing: 'review' } })
    const { fleet, repo, project } = scene
    await everything(scene)
    const before = digestOf(repo.path, isOurs)
    const attempts = Object.values(SHARED).flat()
    const script = `G=$(git rev-parse --absolute-git-dir); C=$(cd "$(git rev-parse --git-common-dir)" && pwd)\n${attempts
      .map(line => `(${line}) >/dev/null 2>&1 </dev/null`)
      .join('\n')}\necho work >work.txt; true`
    const { id } = await fleet.mission(project, script, { tool_preset })
    const mission = await fleet.until(id, ...OVER)
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'review' })

    const after = digestOf(repo.path, isOurs)
    // New objects were taken in. Existing ones are unchanged.
    const isNewObject = (path: string) => !(path in before) && /^\.git\/objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/.test(path)
    expect(Object.fromEntries(Object.entries(after).filter(([path]) => !isNewObject(path)))).toEqual(before)
    expect(await repo.git('worktree', 'list', '--porcelain')).not.toContain(fleet.root)
    expect((await repo.git('stash', 'list')).split('\n')).toHaveLength(1)
    expect(existsSync(join(repo.path, 'stolen'))).toBe(false)
    await repo.git('fsck', '--strict', '--no-dangling')
    // And its work is there too.
    expect(await repo.git('diff', '--name-only', 'main', mission.branch!, '--', 'work.txt')).toBe('work.txt')
  })

  test('two missions that stash and pop at once land their own work, and a person’s stash stays', async () => {
    const { fleet, repo, project } = await aScene()
    await repo.write('README.md', 'a person’s own\n')
    await repo.git('stash', 'push', '--quiet')
    const stash = await repo.git('rev-parse', 'refs/stash')
    const artifacts = (id: string) => join(fleet.fleet.home.task(id), 'artifacts')
    const pause = 'touch "$FLEET_ARTIFACT_DIR/here"; until [ -e "$FLEET_ARTIFACT_DIR/open" ]; do sleep 0.02; done'
    const script = (name: string) =>
      `echo ${name} >${name}.txt; git stash -u -q; ${pause}; git stash pop -q; touch "$FLEET_ARTIFACT_DIR/popped"; exit 0`
    const [a, b] = await Promise.all(['ann', 'bob'].map(name => fleet.mission(project, script(name), { tool_preset })))
    await eventually('both have stashed', () => [a!, b!].every(({ id }) => existsSync(join(artifacts(id), 'here'))))
    for (const { id } of [a!, b!]) {
      writeFileSync(join(artifacts(id), 'open'), '')
      expect((await fleet.until(id, ...OVER)).result).toBe('landed')
    }
    const filesOf = async (id: string) => {
      const { landed } = await fleet.until(id, 'done')
      return repo.git('show', '--format=', '--name-only', landed!.commit)
    }
    expect(await filesOf(a!.id)).toBe('ann.txt')
    expect(await filesOf(b!.id)).toBe('bob.txt')
    expect(await repo.git('rev-parse', 'refs/stash')).toBe(stash)
  })

  test('a replaced object shows nobody anything but what lands', async () => {
    const { fleet, repo, project } = await aScene({ project: { landing: 'review' } })
    const as = 'git -c user.name=a -c user.email=a@b'
    const script = `echo evil >install.sh; git add -A; ${as} commit -qm x
git replace "$(git rev-parse HEAD:install.sh)" "$(echo harmless | git hash-object -w --stdin)"
good=$(git rev-parse HEAD~1); git replace --graft HEAD "$good" || true`
    const { id } = await fleet.mission(project, script, { tool_preset })
    const mission = await fleet.until(id, ...OVER)
    expect(mission.status).toBe('review')
    const { text } = await fleet.call<{ text: string }>('diff_mission', { mission_id: id })
    expect(text).toContain('+evil')
    const clone = join(repo.root, 'clone')
    await runGit(repo.root, ['clone', '--quiet', '--no-local', 'repo', 'clone'])
    await runGit(clone, ['fetch', '--quiet', 'origin', mission.branch!])
    expect(await runGit(clone, ['show', 'FETCH_HEAD:install.sh'])).toBe('evil')
    expect(await repo.git('for-each-ref', 'refs/replace')).toBe('')
  })

  test('files whose names are not UTF-8 land, new and edited', async () => {
    const { fleet, repo, project } = await aScene()
    const name = `"$(printf 'caf\\351')"`
    const first = await fleet.mission(project, `echo one >${name}`, { tool_preset })
    expect((await fleet.until(first.id, ...OVER)).result).toBe('landed')
    const second = await fleet.mission(project, `echo two >>${name}`, { tool_preset })
    expect((await fleet.until(second.id, ...OVER)).result).toBe('landed')
    const listed = await repo.git('-c', 'core.quotePath=true', 'ls-tree', '-r', 'main')
    expect(listed).toContain('"caf\\351"')
    const blob = /blob ([0-9a-f]+)\t"caf/.exec(listed)![1]!
    expect(await repo.git('cat-file', 'blob', blob)).toBe('one\ntwo')
    const report = (await fleet.until(second.id, 'done')).report
    expect(report?.files_changed).toEqual([{ path: 'caf\\xe9', change: 'modified' }])
  })
})

test.runIf(SANDBOX_WORKS)('a filter of the person that lies in the worktree runs inside the walls', async () => {
  const { fleet, repo, project } = await aScene({
    project: { landing: 'review', checks: [{ name: 'true', command: 'true', timeout_seconds: 60 }] },
  })
  const outside = join(repo.root, 'outside')
  await repo.git('config', 'filter.tidy.clean', 'sh tools/tidy')
  await repo.git('config', 'filter.tidy.smudge', 'sh tools/tidy')
  await repo.commit('a filter', { '.gitattributes': '*.txt filter=tidy\n', 'tools/tidy': 'cat\n' })
  const pause = 'touch "$FLEET_ARTIFACT_DIR/here"; until [ -e "$FLEET_ARTIFACT_DIR/open" ]; do sleep 0.02; done'
  const script = `printf 'touch ${outside}; tr a-z A-Z' >tools/tidy; echo work >work.txt; ${pause}`
  const { id } = await fleet.mission(project, script, { tool_preset: 'implement' })
  const artifacts = join(fleet.fleet.home.task(id), 'artifacts')
  await eventually('it has written', () => existsSync(join(artifacts, 'here')))
  const live = await fleet.call<{ text: string }>('diff_mission', { mission_id: id })
  expect(live.text).toContain('+WORK')
  writeFileSync(join(artifacts, 'open'), '')
  const mission = await fleet.until(id, ...OVER)
  expect(await repo.readOn(mission.branch!, 'work.txt')).toBe('WORK')
  await fleet.call('diff_mission', { mission_id: id })
  expect(existsSync(outside)).toBe(false)
  await fleet.call('cancel_mission', { mission_id: id })
  await fleet.call('delete_mission', { mission_id: id, discard: true }).catch(() => {})
  expect(existsSync(outside)).toBe(false)
})

test('an agent at work sees the base branch move when others land, and what it holds itself stays', async () => {
  const { fleet, project, gate } = await aScene()
  const [first, second] = [gate('first'), gate('second')]
  // The session learns of it a moment after the landing.
  const look = 'until git show main:other.txt > seen.txt 2>/dev/null; do sleep 0.05; done'
  const script = `${first.wait}; ${look}; git branch -f main HEAD; ${second.wait}; git rev-parse main > main.txt`
  const watcher = await fleet.mission(project, script)
  await eventually('it is at work', () => first.reached())
  await fleet.until((await fleet.mission(project, 'echo other > other.txt')).id, 'done')
  first.open()
  await eventually('it has looked', () => second.reached())
  await fleet.until((await fleet.mission(project, 'echo more > more.txt')).id, 'done')
  second.open()
  const { status_reason } = await fleet.until(watcher.id, 'done', 'failed', 'review')
  expect(status_reason).toBeNull()
  const { text } = await fleet.call<{ text: string }>('diff_mission', { mission_id: watcher.id })
  expect(text).toContain('+other')
})
