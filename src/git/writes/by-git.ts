import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { NotAllowed } from '../../domain/errors.ts'
import { gitDirOf } from '../layout.ts'
import { byteName, nameBytes } from '../names.ts'
import { plainRefs } from '../private/refs.ts'
import { git, gitText } from '../run.ts'
import { Turns } from '../turns.ts'
import type { Writes } from './contract.ts'

/** `git worktree add` races with itself. */
const turns = new Turns()

/** With this many loose refs a repository is slow, and not all of them are read. */
const MANY = 1000

/** Our own updates do not belong in the history that the agent reads. */
const UNLOGGED = ['-c', 'core.logAllRefUpdates=false']

/**
 * Git runs in a session's repository only after it was sealed. Otherwise it would do what an agent wrote into its
 * configuration.
 */
export const byGit: Writes = {
  async ref(commonDir, ref, oid) {
    await git(commonDir, ['update-ref', ref, oid])
  },

  async noRef(commonDir, ref, oid) {
    await git(commonDir, ['update-ref', '-d', ref, oid])
  },

  object(commonDir, { type, content }) {
    return gitText(commonDir, ['hash-object', '-t', type, '-w', '--stdin'], { input: content })
  },

  async worktree(repo, { path, lock, branch, start }) {
    const on = branch ? ['--no-track', '-B', branch] : ['--detach']
    const args = ['worktree', 'add', '--quiet', '--no-checkout', '--lock', '--reason', lock, ...on, '--', path, start]
    await turns.take(repo.commonDir, () => git(repo.commonDir, args, { effect: 'git.worktree-add' }))
    const dirs = await gitDirOf(path)
    if (!dirs) throw new NotAllowed(`git made no worktree at ${path}.`)
    return dirs.gitDir
  },

  async gitDir(folder, commit) {
    if (existsSync(join(folder, 'HEAD'))) return
    mkdirSync(folder, { recursive: true })
    const format = `--object-format=${commit.length === 64 ? 'sha256' : 'sha1'}`
    // Refs of a session are read as files, whatever format git prefers.
    const env = { GIT_DEFAULT_REF_FORMAT: 'files' }
    await git(folder, ['init', '--quiet', '--bare', '--template=', format], { env })
  },

  async branch(gitDir, branch, oid) {
    const ref = byteName(`refs/heads/${branch}`)
    const inTheWay = [...plainRefs(gitDir).keys()].filter(
      other => other.startsWith(`${ref}/`) || ref.startsWith(`${other}/`),
    )
    rmSync(join(gitDir, `refs/heads/${branch}.lock`), { force: true })
    if (inTheWay.length)
      await update(
        gitDir,
        inTheWay.map(other => `delete ${other}\0\0`),
      )
    await update(gitDir, [`update ${ref}\0${oid}\0\0`])
  },

  async head(gitDir, at, env = {}) {
    rmSync(join(gitDir, 'HEAD.lock'), { force: true })
    const args =
      'branch' in at
        ? ['symbolic-ref', 'HEAD', `refs/heads/${at.branch}`]
        : ['update-ref', '--no-deref', 'HEAD', at.commit]
    await git(gitDir, [...UNLOGGED, ...args], { env: { GIT_DIR: gitDir, ...env } })
  },

  async given(gitDir, { before, now, originHead }) {
    rmSync(join(gitDir, 'packed-refs.lock'), { force: true })
    const has = plainRefs(gitDir)
    const gone = [...before].filter(([ref, oid]) => has.get(ref) === oid && !now.has(ref))
    const set = [...now].filter(
      ([ref, oid]) => has.get(ref) !== oid && [undefined, before.get(ref)].includes(has.get(ref)),
    )
    const commands = [
      ...gone.map(([ref]) => `delete ${ref}\0\0`),
      ...set.map(([ref, oid]) => `update ${ref}\0${oid}\0\0`),
    ]
    if (commands.length) await update(gitDir, commands)
    if (commands.length > MANY) await git(gitDir, ['pack-refs', '--all'], { env: { GIT_DIR: gitDir } })
    if (originHead)
      await git(gitDir, [...UNLOGGED, 'symbolic-ref', 'refs/remotes/origin/HEAD', originHead], {
        env: { GIT_DIR: gitDir },
      })
  },

  /** Git would read what the agent is writing there, so the session learns it at its next start. */
  async moved() {
    return false
  },
}

async function update(gitDir: string, commands: readonly string[]): Promise<void> {
  const args = [...UNLOGGED, 'update-ref', '--no-deref', '-z', '--stdin']
  await git(gitDir, args, { env: { GIT_DIR: gitDir }, input: nameBytes(commands.join('')) })
}
