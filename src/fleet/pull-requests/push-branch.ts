import { NotAllowed, type Refusal, Unreachable } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import { step } from '../../domain/rules/life.ts'
import { branchPage } from '../../domain/rules/remote-address.ts'
import { clipped } from '../../domain/text.ts'
import { GitFailed, pushCommit, type Remote, type Repository, remoteOf, remoteTip } from '../../git/index.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, changeMission } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { requireShown } from '../landing/candidates.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current } from '../records.ts'

const TOLD_CHARS = 400

/**
 * Pushes exactly the candidate that a person was shown to a branch of the project's remote, and nothing else. Doing it
 * again is free: the remote is asked what it has.
 */
export function pushBranch(fleet: Fleet, ask: Ask, id: string, expected: string): Promise<Stored<Mission>> {
  return changeMission(fleet, id, ask, async (asked, when) => {
    const { value: project } = await current(fleet, 'projects', asked.project_id)
    const mission = await requireShown(fleet, asked, expected)
    const { pull_request: pull } = mission
    if (pull?.state === 'open' || pull?.state === 'opening')
      throw new NotAllowed(`Mission ${id} has an open pull request, whose branch follows it.`, {
        try: 'Land it to bring the pull request up to date.',
      })
    const repository = await repositoryOf(project)
    const remote = await remoteOf(repository, project.base_branch)
    if (!remote)
      throw new NotAllowed(`${project.path} has no remote to push to.`, {
        try: 'Add one with git; of several, name the right one in branch.<base branch>.remote.',
      })
    const [branch, commit] = [mission.branch!, mission.candidate!.commit]
    const ours = [commit, mission.pushed?.branch === branch ? mission.pushed.commit : null, pull?.pushed ?? null]
    await push(repository, remote, { branch, commit, ours })
    const pushed = {
      remote: remote.name,
      address: remote.address,
      branch,
      commit,
      url: branchPage(remote.address, branch),
      at: when.now,
    }
    return step(mission, { pushed }, when, 'branch_pushed', { data: { ...pushed } })
  })
}

interface Push {
  branch: string
  commit: string
  /** What the branch may have there: commits that we pushed. */
  ours: readonly (string | null)[]
}

async function push(repository: Repository, remote: Remote, { branch, commit, ours }: Push): Promise<void> {
  try {
    const seen = await remoteTip(repository, remote.name, branch)
    if (seen === commit) return
    if (seen && !ours.includes(seen))
      throw new NotAllowed(`The branch ${branch} of ${remote.name} was changed by someone else, to ${seen}.`, {
        try: 'Take over what is there, or delete the branch there.',
      })
    await pushCommit(repository, { remote: remote.name, branch, commit, seen })
  } catch (error) {
    throw error instanceof GitFailed ? inWords(error, remote) : error
  }
}

const REJECTED = /\[(?:remote )?rejected\]|hook declined|protected branch|stale info/i
const SIGNED_OUT = /permission denied|authentication failed|could not read username|access denied|\b40[13]\b/i

/** Git says why in English: `LC_ALL` is C for it. */
function inWords({ stderr, message }: GitFailed, { name, address }: Remote): Refusal {
  const lines = stderr.split('\n').map(line => line.trim())
  const said = clipped(lines.filter(Boolean).join(' ') || message, TOLD_CHARS)
  if (REJECTED.test(stderr)) {
    // What a hook of the remote printed, and git's own reason.
    const words = lines.flatMap(line => /^remote:\s*(.+)$/.exec(line)?.[1] ?? [])
    const reason = /\[(?:remote )?rejected\].*\(([^()]*)\)$/m.exec(stderr)?.[1]
    const told = [...words, reason].filter(Boolean).join('; ')
    return new NotAllowed(`${name} rejected the push: ${clipped(told, TOLD_CHARS) || said}`)
  }
  if (SIGNED_OUT.test(stderr))
    return new NotAllowed(`${name} (${address}) did not let git sign in: ${said}`, {
      try: 'Git signs in as it does for you outside of the fleet.',
    })
  return new Unreachable(`${name} (${address}) could not be reached: ${said}`, {
    try: 'Push again once it can be reached. Nothing else changed.',
  })
}
