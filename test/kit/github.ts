import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runGit, type TestRepository } from '../../src/git/testkit.ts'
import { NODE } from './fleet.ts'

export interface Pull {
  number: number
  url: string
  state: 'OPEN' | 'CLOSED' | 'MERGED'
  head: string
  base: string
  title: string
  body: string
  mergeCommit: { oid: string } | null
  reviewDecision: string
  mergeable: string
  headRefOid: string
  isCrossRepository: boolean
  statusCheckRollup?: object[]
}
interface State {
  pulls: Pull[]
  fault?: 'signed out' | 'offline'
}

/** Lets a server find the stand-in for gh. */
export const WITH_GH = {
  PATH: `${join(import.meta.dirname, '../fixtures/github')}:${join(NODE, '..')}:${process.env.PATH}`,
}

/** A stand-in for GitHub: a bare repository that is the remote of another, and its pull requests. */
export async function aGitHub(repo: TestRepository) {
  const path = join(repo.root, 'remote.git')
  const file = join(path, 'gh.json')
  await runGit(repo.root, ['clone', '--quiet', '--bare', repo.path, path])
  await repo.git('remote', 'add', 'origin', path)
  await repo.git('fetch', '--quiet', 'origin')
  const state = (): State => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as State) : { pulls: [] })
  const write = (next: State): void => {
    writeFileSync(`${file}.test`, JSON.stringify(next))
    renameSync(`${file}.test`, file)
  }
  const change = (number: number, fields: Partial<Pull>): void => {
    const now = state()
    write({ ...now, pulls: now.pulls.map(pull => (pull.number === number ? { ...pull, ...fields } : pull)) })
  }
  const git = (...args: string[]) => runGit(path, args)
  return {
    path,
    git,
    change,
    pulls: () => state().pulls,
    /** Anyone may propose a branch of a fork, with any name. */
    proposeFromFork(head: string, headRefOid: string): void {
      const now = state()
      const number = now.pulls.length + 1
      const url = `https://github.example/us/ours/pull/${number}`
      const about = { title: 'Theirs', body: '', reviewDecision: '', mergeable: 'MERGEABLE', mergeCommit: null }
      const pull = { number, url, state: 'OPEN' as const, head, headRefOid, base: 'main', isCrossRepository: true }
      write({ ...now, pulls: [...now.pulls, { ...pull, ...about }] })
    },
    fail: (fault?: State['fault']) => write({ ...state(), fault }),
    /** The command lines gh was called with. */
    asked: (verb: string): string[][] =>
      (existsSync(join(path, 'gh.log')) ? readFileSync(join(path, 'gh.log'), 'utf8') : '')
        .split('\n')
        .filter(Boolean)
        .map(line => (JSON.parse(line) as { argv: string[] }).argv)
        .filter(argv => argv[1] === verb),
    /** Merges like GitHub's button: one commit on top of the base, made there. */
    async squash(number: number): Promise<string> {
      const { head, base, title } = state().pulls.find(pull => pull.number === number)!
      const tree = await git('merge-tree', '--write-tree', base, head)
      const who = ['-c', 'user.name=GitHub', '-c', 'user.email=noreply@github.example']
      const message = [`${title} (#${number})`, await git('log', '-1', '--format=%(trailers)', head)].join('\n\n')
      const oid = await git(...who, 'commit-tree', tree, '-p', base, '-m', message)
      await git('update-ref', `refs/heads/${base}`, oid)
      await git('update-ref', '-d', `refs/heads/${head}`)
      change(number, { state: 'MERGED', mergeCommit: { oid } })
      return oid
    },
  }
}
