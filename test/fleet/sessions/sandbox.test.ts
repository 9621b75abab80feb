import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aRepository, runGit } from '../../../src/git/testkit.ts'
import { eventually } from '../../kit/fleet.ts'
import { SANDBOX_WORKS } from '../../kit/sandbox.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

const OVER = ['done', 'failed', 'needs_input']

/** Tries each line. At the end, the script prints the names of those that succeeded. */
const tries = (lines: Record<string, string>): string =>
  `did=''\n${Object.entries(lines)
    .map(([name, line]) => `if (${line}) >/dev/null 2>&1; then did="$did ${name}"; fi`)
    .join('\n')}\necho "succeeded:$did"`

async function succeeded({ fleet, project }: Scene, lines: Record<string, string>, preset: string): Promise<string[]> {
  const { id } = await fleet.mission(project, tries(lines), { tool_preset: preset, mission_type: 'review' })
  const mission = await fleet.until(id, ...OVER)
  const said = /succeeded:(.*)/.exec(mission.report?.summary ?? '')
  if (!said) throw new Error(JSON.stringify(mission.status_reason))
  return said[1]!.trim().split(' ').filter(Boolean)
}

/** All processes with this word among their arguments, without the shell that started them. */
const commandsWith = (word: string): string[] =>
  readdirSync('/proc').filter(pid => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(word)
    } catch {
      return false
    }
  })

test('where there is no sandbox that works, what only it could hold to is refused, with how to get one', async () => {
  const { fleet, project, repo } = await aScene({ start: false })
  const bin = join(fleet.root, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'bwrap'), '#!/bin/sh\necho "no namespaces for you" >&2\nexit 1\n', { mode: 0o755 })
  await fleet.start({ env: { PATH: `${bin}:${process.env.PATH}` } })
  const { id } = await fleet.mission(project, `touch '${repo.path}/x'`, { tool_preset: 'review' })
  const { status, status_reason } = await fleet.until(id, ...OVER)
  expect(status).toBe('failed')
  expect(status_reason?.text).toMatch(/cannot be held to the preset review.*no namespaces for you/)
  expect(existsSync(join(repo.path, 'x'))).toBe(false)
  const { stdout } = await fleet.fleetCommand(['doctor'], { env: { PATH: bin } })
  expect(stdout).toMatch(/sandbox .*no namespaces for you/)
})

describe.skipIf(!SANDBOX_WORKS)('in the sandbox', () => {
  test('a reviewer writes and removes nothing, signals nobody, and does not see what is not its own', async () => {
    const scene = await aScene()
    const { fleet, repo, project } = scene
    const home = fleet.fleet.home.path
    mkdirSync(join(fleet.root, '.ssh'))
    writeFileSync(join(fleet.root, '.ssh/id_ed25519'), 'secret')
    writeFileSync(join(fleet.root, '.netrc'), 'secret')
    writeFileSync(join(fleet.root, 'notes.txt'), 'mine')
    const other = await fleet.mission(project, 'echo other >other.txt', {})
    const { sessions } = await fleet.until(other.id, 'done')
    const server = (await fleet.call<{ server: { pid: number } }>('system_status')).server.pid

    const did = await succeeded(
      scene,
      {
        writes: 'echo x >x.txt',
        removes: 'rm README.md',
        'removes-git': 'rm -rf .git',
        commits: 'git -c user.name=a -c user.email=a@b commit --allow-empty -m x',
        'writes-to-the-checkout': `echo x >'${repo.path}/x.txt'`,
        'moves-main': `git -C '${repo.path}' update-ref -d refs/heads/main`,
        'writes-at-home': `echo x >>'${fleet.root}/notes.txt'`,
        'reads-a-key': `grep . '${fleet.root}/.ssh/id_ed25519'`,
        'reads-a-password': `grep . '${fleet.root}/.netrc'`,
        'reads-the-token': `grep . '${home}/token'`,
        'reads-another-session': `ls '${home}/sessions/${sessions[0]!.id}'`,
        'signals-the-server': `kill -0 ${server}`,
        'tunes-the-kernel': 'cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern',
        'gets-around-it': 'mount -o remount,rw,bind / || umount /tmp || unshare -Urm mount -o remount,rw,bind /',
        // And what it is there for.
        'reads-at-home': `grep mine '${fleet.root}/notes.txt'`,
        reads: 'grep . README.md',
        'looks-at-git': 'git log --oneline && git diff HEAD',
        'uses-tmp': 'echo x >"$TMPDIR/x" && test ! -e /tmp/flotilla-marker',
        'keeps-artifacts': 'echo x >"$FLEET_ARTIFACT_DIR/finding.txt"',
        'calls-fleet': 'fleet call get_mission_context',
        'reaches-the-server':
          'node -e "fetch(process.env.FLEET_URL + \'/health\').then(r => process.exit(r.ok ? 0 : 1))"',
      },
      'review',
    )
    expect(did).toEqual([
      ...['reads-at-home', 'reads', 'looks-at-git', 'uses-tmp', 'keeps-artifacts'],
      ...['calls-fleet', 'reaches-the-server'],
    ])
    expect(await repo.git('status', '--porcelain')).toBe('')
  })

  test('its setup command, its checks and its preview are behind the same walls', async () => {
    const { fleet, repository } = await aScene()
    const repo = await repository()
    mkdirSync(join(fleet.root, '.ssh'))
    writeFileSync(join(fleet.root, '.ssh/id_ed25519'), 'secret')
    // Each writes a log of what it was able to do.
    const tried = (name: string) =>
      `{ cat '${fleet.root}/.ssh/id_ed25519'; cat '${fleet.fleet.home.path}/token'; echo x >'${repo.path}/${name}.txt'; ` +
      `echo x >'${fleet.root}/${name}.txt'; echo x >>.git; echo x >'${repo.path}/.git/hooks/${name}'; } >${name}.log 2>/dev/null; ` +
      `[ ! -s ${name}.log ] && echo held >${name}.log`
    const server = `require('http').createServer((q, r) => r.end(require('fs').readFileSync('preview.log'))).listen(process.env.PORT, '127.0.0.1')`
    const project = await fleet.project(repo.path, {
      setup_command: tried('setup'),
      checks: [{ name: 'walls', command: `${tried('check')} && grep held setup.log && grep held check.log` }],
      preview_command: `${tried('preview')}; exec node -e "${server}"`,
    })
    const { id } = await fleet.mission(project, 'grep held setup.log && echo made >made.txt', {
      tool_preset: 'implement',
      landing: 'auto',
    })
    const mission = await fleet.until(id, ...OVER, 'review')
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
    await fleet.call('start_preview', { mission_id: id })
    const { url } = await eventually('the preview answers', async () => {
      const now = await fleet.call<{ status: string; url: string; reason: string }>('get_preview', { mission_id: id })
      if (now.status === 'ended') throw new Error(now.reason)
      return now.status === 'up' ? now : undefined
    })
    expect(await (await fetch(url)).text()).toBe('held\n')
    await fleet.call('stop_preview', { mission_id: id })
    await eventually('the preview has ended', async () => {
      const { status } = await fleet.call<{ status: string }>('get_preview', { mission_id: id })
      return status === 'ended'
    })
    for (const name of ['setup', 'check', 'preview'])
      for (const folder of [repo.path, fleet.root, join(repo.path, '.git/hooks')])
        expect(existsSync(join(folder, name)) || existsSync(join(folder, `${name}.txt`))).toBe(false)
  })

  test('what its check leaves, below ignored folders too, reaches no other mission’s check', async () => {
    const lint = 'node_modules/lint'
    const { fleet, repo, project } = await aScene({
      repository: { files: { '.gitignore': 'node_modules/\n', 'test.sh': 'exit 0\n' } },
      project: { landing: 'auto', checks: [{ name: 'test', command: `sh test.sh && [ ! -e ${lint} ] || sh ${lint}` }] },
    })
    const escaped = join(fleet.root, 'escaped')
    // As an earlier version left it, when one folder was used for both.
    const both = join(fleet.fleet.home.worktrees, project.id, 'checks')
    await repo.git('worktree', 'add', '--quiet', '--detach', both)
    mkdirSync(join(both, 'node_modules'))
    writeFileSync(join(both, lint), `touch '${escaped}'; exit 1`)
    const run = async (script: string, tool_preset: string) => {
      const { id } = await fleet.mission(project, script, { tool_preset })
      return (await fleet.until(id, ...OVER, 'review')).status
    }
    const plant = (line: string) => `mkdir -p node_modules; echo "${line}" >${lint}`
    const plants = (line: string) => `cat >test.sh <<'END'\n${plant(line)}; exit 1\nEND`
    expect(await run('echo 1 >one.txt', 'full')).toBe('done')
    expect(await run(plants(`touch '${escaped}'`), 'implement')).toBe('review')
    expect(await run('echo 2 >two.txt', 'full')).toBe('done')
    expect(existsSync(escaped)).toBe(false)
    // It also cannot make another mission's check fail or pass, inside the walls or outside.
    expect(await run(plants('exit 1'), 'implement')).toBe('review')
    expect(await run('echo 3 >three.txt', 'implement')).toBe('done')
    expect(await run('echo 4 >four.txt', 'full')).toBe('done')
    expect((await repo.git('worktree', 'list')).split('\n')).toHaveLength(1)
    // Outside the walls, ignored files stay for the next check.
    expect(await run(`echo "${plant('exit 0').replaceAll('"', '\\"')}" >test.sh`, 'full')).toBe('done')
    expect(await run('echo "[ -e node_modules/lint ]" >test.sh', 'full')).toBe('done')
    expect(await run('echo 5 >five.txt', 'implement')).toBe('review')
  })

  test('it works where the fleet’s home, and the person’s, are reached through a link', async () => {
    const { fleet, project, repo } = await aScene({ start: false })
    const link = `${fleet.root}-link`
    symlinkSync(fleet.root, link)
    onTestFinished(() => rmSync(link))
    await fleet.start({ env: { HOME: link, FLEET_HOME: join(link, 'home') } })
    const line = `test -s "$FLEET_PROMPT_FILE" && test ! -e '${link}/home/token' && echo x >"$FLEET_ARTIFACT_DIR/x" && pwd >made.txt`
    const { id } = await fleet.mission(project, line, { tool_preset: 'implement' })
    const mission = await fleet.until(id, ...OVER)
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
    expect(await repo.readOn('main', 'made.txt')).toContain('worktrees')
  })

  test('what signs in elsewhere, other agents’ files too, is empty; variables that lead to sockets are gone', async () => {
    const scene = await aScene({
      env: { SSH_AUTH_SOCK: '/nowhere', DISPLAY: ':0' },
      project: { environment: ['SSH_AUTH_SOCK', 'DISPLAY'] },
    })
    const { root } = scene.fleet
    const files = [
      ...['.config/glab-cli/config.yml', '.config/gcloud/credentials.db', '.docker/config.json', '.kube/config'],
      ...['.cargo/credentials.toml', '.config/pip/pip.conf', '.claude/.credentials.json', '.claude.json'],
      ...['.codex/auth.json', '.gemini/oauth_creds.json', '.config/google-chrome/Default/Cookies', '.bash_history'],
    ]
    for (const file of files) {
      mkdirSync(dirname(join(root, file)), { recursive: true })
      writeFileSync(join(root, file), 'secret')
    }
    // The folder itself is a link.
    mkdirSync(join(root, 'elsewhere'))
    writeFileSync(join(root, 'elsewhere/credentials'), 'secret')
    symlinkSync(join(root, 'elsewhere'), join(root, '.aws'))
    const lines = Object.fromEntries(
      [...files, '.aws/credentials', 'elsewhere/credentials'].map(file => [file, `grep . '${join(root, file)}'`]),
    )
    const variables = { SSH: 'test -n "$SSH_AUTH_SOCK"', X: 'test -n "$DISPLAY"', PATH: 'test -n "$PATH"' }
    expect(await succeeded(scene, { ...lines, ...variables }, 'review')).toEqual(['PATH'])
  })

  test('of your repository it has the objects, and no sign-in of git by any way', async () => {
    const scene = await aScene()
    const { fleet, repo, project } = scene
    const part = await aRepository({ files: { inner: 'one\n' } })
    onTestFinished(() => part.remove())
    await repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', part.path, 'part')
    await repo.commit('part')
    await repo.git('remote', 'add', 'origin', 'https://me:SECRET@example.com/x.git')
    await repo.git('config', 'url.https://oauth2:SECRET@example.org/.insteadOf', 'https://example.org/')
    await repo.git('config', 'github.token', 'SECRET')
    writeFileSync(join(repo.path, '.git/FETCH_HEAD'), `${await repo.tip()}\t\tof https://me:SECRET@example.com/x\n`)
    writeFileSync(join(fleet.root, '.gitconfig'), '[sendemail]\n\tsmtpPass = SECRET\n[user]\n\tname = Someone\n')
    const git = `'${repo.path}/.git'`
    const found = `grep -rqs SECRET ${git} "$(git rev-parse --absolute-git-dir)" '${fleet.root}/.gitconfig'`
    const tried = {
      'finds-it-in-files': found,
      'is-told-it': 'git config --list | grep SECRET',
      'has-it-in-variables': 'env | grep SECRET',
      'sees-other-work': `ls ${git}/refs/heads ${git}/packed-refs ${git}/logs | grep .`,
      'writes-there': `echo x >${git}/x || mkdir ${git}/hooks || echo x >${git}/objects/x`,
      commits: 'echo made >made.txt && git add made.txt && git -c user.name=a -c user.email=a@b commit -m made',
      'reads-history': 'git log --stat --all && git fsck && git -C part log && git status',
    }
    const check = { name: 'walls', command: `! { ${found}; } && git log -1 --stat` }
    await fleet.call('update_project', { project_id: project.id, checks: [check] })
    const script = `${tries(tried)}\necho left >left.txt`
    const { id } = await fleet.mission(project, script, { tool_preset: 'implement', landing: 'auto' })
    const mission = await fleet.until(id, ...OVER, 'review')
    expect(mission.report?.summary).toMatch(/succeeded: commits reads-history$/m)
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
    expect(await repo.readOn('main', 'made.txt')).toBe('made')
  })

  test('under implement and test it works and commits in its worktree, and changes nothing else', async () => {
    const scene = await aScene()
    const { fleet, repo, project } = scene
    const lines = {
      'writes-to-the-checkout': `echo x >'${repo.path}/x.txt'`,
      'plants-a-hook': `echo x >'${repo.path}/.git/hooks/post-commit'`,
      'changes-the-configuration': `git config core.pager x`,
      'writes-at-home': `echo x >'${fleet.root}/x.txt'`,
      works: 'echo made >made.txt && git add made.txt',
      commits: 'git -c user.name=a -c user.email=a@b commit -m made',
    }
    for (const tool_preset of ['implement', 'test']) {
      const { id } = await fleet.mission(project, `${tries(lines)}\necho ${tool_preset} >left.txt`, { tool_preset })
      const mission = await fleet.until(id, ...OVER)
      expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
      expect(mission.report?.summary).toContain(tool_preset === 'implement' ? 'succeeded: works commits' : 'works')
      expect(await repo.readOn('main', 'left.txt')).toBe(tool_preset)
    }
    expect(await repo.readOn('main', 'made.txt')).toBe('made')
  })

  test('nothing it leaves makes the wrapper write, or our own git run, outside the walls', async () => {
    const scene = await aScene()
    const { fleet, project } = scene
    const precious = join(fleet.root, 'precious.txt')
    const escaped = join(fleet.root, 'escaped')
    writeFileSync(precious, 'mine')
    const planted = (config: string) => `git config -f ${config} filter.x.clean "sh -c 'touch ${escaped}; cat'"`
    const lines = {
      'puts-a-link-in-our-files': `ln -s '${precious}' "$(dirname "$FLEET_RESULT_FILE")/../exit"`,
      'brings-its-own-repository': 'rm .git',
      'writes-another-link': 'echo "gitdir: $PWD/evil" >.git',
      'has-a-configuration': planted('"$(git rev-parse --git-dir)/config"'),
      'has-attributes': 'echo "* filter=x" >"$(git rev-parse --git-dir)/info/attributes"',
      'plants-a-hook': 'echo x >"$(git rev-parse --git-dir)/hooks/post-checkout"',
      'borrows-from-another': 'echo /evil >"$(git rev-parse --git-dir)/objects/info/alternates"',
    }
    // It may do this, but it is no use: git follows the configuration of its own repository only inside the walls.
    const nested = [
      'git init -q sub && cd sub && echo a >f && git add f && git -c user.name=a -c user.email=a@b commit -qm a',
      `${planted('.git/config')} && cd .. && git add sub && cd sub`,
      'echo "* filter=x" >.git/info/attributes && echo b >f && touch -d 2001-01-01 f && cd ..',
      `dir=$(git rev-parse --git-dir) && ${planted('"$dir/config.worktree"')} && echo "$PWD/evil" >"$dir/commondir"`,
      `ln -s '${precious}' "$dir/MERGE_MSG"; ln -s '${precious}' "$dir/COMMIT_EDITMSG"`,
    ].join('\n')
    const pause = 'touch "$FLEET_ARTIFACT_DIR/here"; until [ -e "$FLEET_ARTIFACT_DIR/open" ]; do sleep 0.02; done'
    const script = `${tries(lines)}\n(${nested}) >/dev/null 2>&1\necho "* filter=x" >.gitattributes\n${pause}`
    await fleet.call('update_project', { project_id: project.id, tool_preset: 'implement' })
    const { id } = await fleet.mission(project, script)
    const artifacts = join(fleet.fleet.home.task(id), 'artifacts')
    await eventually('the agent has left it', () => existsSync(join(artifacts, 'here')))
    // A later change of the preset does not matter: what counts is how this session was started.
    await fleet.call('update_project', { project_id: project.id, tool_preset: 'full' })
    writeFileSync(join(artifacts, 'open'), '')
    const mission = await fleet.until(id, 'review', ...OVER)
    expect(mission.report?.summary).toMatch(/succeeded:$/m)
    expect(mission).toMatchObject({ status: 'review', sessions: [{ outcome: 'completed', exit_code: 0 }] })
    expect(mission.status_reason?.text).toContain('sub/ (it is a git repository of its own)')
    expect([readFileSync(precious, 'utf8'), existsSync(escaped)]).toEqual(['mine', false])
  })

  test('a person’s git in the worktree of one at work heeds no other repository than ours', async () => {
    const { fleet, project } = await aScene()
    const escaped = join(fleet.root, 'escaped')
    const lines = {
      'makes-room-for-it': '[ ! -e "$dir/commondir" ] || rm -f "$dir/commondir"',
      'points-to-another': 'echo "$PWD/evil" >"$dir/commondir"',
      'points-to-another-in-one-stroke': 'echo "$PWD/evil" >"$dir/x" && mv -f "$dir/x" "$dir/commondir"',
    }
    const plant = [
      'dir=$(git rev-parse --git-dir); mkdir evil; cp -r "$dir/objects" "$dir/refs" "$dir/config" evil/',
      `git config -f evil/config core.fsmonitor "touch '${escaped}'; false"`,
      'cp evil/config "$dir/config.worktree"; echo "$PWD/evil/.git" >"$dir/gitdir"',
      'mkdir -p "$dir/worktrees/evil"; cp evil/config "$dir/worktrees/evil/config.worktree"; cp "$dir/HEAD" "$dir/worktrees/evil/"',
      'echo "$PWD/evil" >"$dir/worktrees/evil/commondir"; echo "$PWD/.git" >"$dir/worktrees/evil/gitdir"',
    ].join('\n')
    const pause = 'touch "$FLEET_ARTIFACT_DIR/here"; until [ -e "$FLEET_ARTIFACT_DIR/open" ]; do sleep 0.02; done'
    const script = `${plant}\n${tries(lines)}\n${pause}\nrm -rf evil; git status >status.txt`
    const { id } = await fleet.mission(project, script, { tool_preset: 'implement', landing: 'auto' })
    const artifacts = join(fleet.fleet.home.task(id), 'artifacts')
    await eventually('the agent has left it', () => existsSync(join(artifacts, 'here')))
    const worktree = (await fleet.until(id, 'running')).sessions[0]!.worktree!
    expect(await runGit(worktree, ['status', '--short'])).toContain('?? evil/')
    await runGit(worktree, ['log', '--oneline'])
    expect(existsSync(escaped)).toBe(false)
    writeFileSync(join(artifacts, 'open'), '')
    const mission = await fleet.until(id, 'review', ...OVER)
    expect(mission.report?.summary).toMatch(/succeeded:$/m)
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
    expect(existsSync(escaped)).toBe(false)
  })

  test('its client is found also in a folder that is hidden, and nothing else of that is', async () => {
    const { fleet, project } = await aScene({ start: false })
    const folder = mkdtempSync('/tmp/flotilla-client-')
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    mkdirSync(join(folder, 'bin'))
    writeFileSync(join(folder, 'secret'), 'x')
    writeFileSync(
      join(folder, 'bin/tmp-agent'),
      `#!/bin/sh\n[ -e '${join(folder, 'secret')}' ] && echo seen >seen.txt; echo made >made.txt\n`,
      { mode: 0o755 },
    )
    const agent = { kind: 'custom', name: 'tmp-agent', command: ['tmp-agent'], prompt: 'stdin' }
    writeFileSync(join(fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [agent] }))
    await fleet.start({ env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}` } })
    const { id } = await fleet.mission(project, 'x', { agent: 'tmp-agent', tool_preset: 'implement', landing: 'auto' })
    const mission = await fleet.until(id, 'review', ...OVER)
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
    expect(mission.report?.files_changed.map(({ path }) => path)).toEqual(['made.txt'])
  })

  test('what it hands on is held to the same preset and limits', async () => {
    const { fleet, project, repo } = await aScene()
    const part = { title: 'a part', agent: 'shell', detailed_prompt: 'echo x >x.txt', mission_type: 'implement' }
    const ask = `fetch(process.env.FLEET_URL + '/api/agent/sub-missions', { method: 'POST', body: JSON.stringify(${JSON.stringify(part)}),
      headers: { authorization: 'Bearer ' + process.env.FLEET_TOKEN, 'content-type': 'application/json' } })
      .then(async answer => { console.log(await answer.text()); process.exit(answer.ok ? 0 : 1) })`
    const script = `cat >"$TMPDIR/ask.mjs" <<'ASK'\n${ask}\nASK\nnode "$TMPDIR/ask.mjs"`
    const limits = { tool_preset: 'review', max_turns: 7, timeout_seconds: 77, max_retries: 0 }
    const { id } = await fleet.mission(project, script, { ...limits, mission_type: 'review' })
    expect(await fleet.until(id, ...OVER)).toMatchObject({ status: 'done' })
    const { missions } = await fleet.call<{ missions: { id: string }[] }>('list_missions', { parent_mission_id: id })
    const child = await fleet.until(missions[0]!.id, ...OVER)
    expect(child).toMatchObject({ status: 'failed', tool_preset: 'review', max_turns: 7, timeout_seconds: 77 })
    expect(child.sessions[0]!.outcome_reason).toContain('Read-only file system')
    expect(await repo.filesOn('main')).not.toContain('x.txt')
  })

  test('the exit code and the words of a failure come through', async () => {
    const { fleet, project } = await aScene()
    const { id } = await fleet.mission(project, 'echo it is broken >&2; exit 7', { tool_preset: 'explore' })
    const { sessions } = await fleet.until(id, ...OVER)
    expect(sessions[0]).toMatchObject({ outcome: 'failed', exit_code: 7 })
    expect(sessions[0]!.outcome_reason).toContain('it is broken')
  })

  test('cancelled with children of its own, some out of reach of signals, it leaves no process', async () => {
    const { fleet, project } = await aScene()
    const script = [
      'setsid sh -c "trap \\"\\" TERM; while :; do sleep 0.1; done" &',
      '(setsid env -i sh -c "cd /; while :; do sleep 0.1; done" outlaw-$FLEET_TASK_ID &)',
      'echo ready >"$FLEET_ARTIFACT_DIR/ready"',
      'while :; do sleep 0.1; done',
    ].join('\n')
    const { id } = await fleet.mission(project, script, { tool_preset: 'review' })
    const ready = join(fleet.fleet.home.task(id), 'artifacts/ready')
    const { sessions } = await eventually('its children run', async () =>
      existsSync(ready) ? fleet.show(id) : undefined,
    )
    await eventually('the outlaw runs', () => commandsWith(`outlaw-${id}`).length === 1)
    await fleet.call('cancel_mission', { mission_id: id })
    await fleet.until(id, 'cancelled')
    expect(fleet.processes(sessions[0]!.id)).toEqual([])
    expect(commandsWith(`outlaw-${id}`)).toEqual([])
  })

  test('it goes on while the server is dead, and is taken up with nothing missing', async () => {
    const { fleet, project } = await aScene()
    const script =
      'echo one; touch "$FLEET_ARTIFACT_DIR/here"; until [ -e "$FLEET_ARTIFACT_DIR/open" ]; do sleep 0.02; done; echo two'
    const { id } = await fleet.mission(project, script, { tool_preset: 'review', mission_type: 'review' })
    const artifacts = join(fleet.fleet.home.task(id), 'artifacts')
    await eventually('it is at work', () => existsSync(join(artifacts, 'here')))
    await fleet.kill()
    writeFileSync(join(artifacts, 'open'), '')
    await fleet.start()
    const mission = await fleet.until(id, ...OVER)
    expect(mission).toMatchObject({ status: 'done', result: 'no_changes' })
    expect(mission.sessions).toMatchObject([{ outcome: 'completed', exit_code: 0 }])
    const { events } = await fleet.call<{ events: { kind: string }[] }>('list_events', {})
    expect(events.map(({ kind }) => kind)).toContain('adopted')
  })
})
