import * as z from 'zod'
import { which } from '../../agents/detect.ts'
import { Unfit, Unreachable } from '../../domain/errors.ts'
import type { PullCheck } from '../../domain/records/mission.ts'
import { clipped } from '../../domain/text.ts'
import { effect } from '../../platform/effects.ts'
import { runProgram } from '../../spawning/index.ts'
import type { Fleet } from '../fleet.ts'

const LIMIT_MS = 60_000
const MAX_BYTES = 4 * 1024 * 1024
const TOLD_CHARS = 400
/** The exit code of gh when nobody is signed in. */
const SIGNED_OUT = 4
const MOST_LISTED = 30

/** A check run or a commit status, as GitHub lists them together. */
const Rollup = z.object({
  name: z.string().nullish(),
  workflowName: z.string().nullish(),
  startedAt: z.string().nullish(),
  context: z.string().nullish(),
  status: z.string().nullish(),
  conclusion: z.string().nullish(),
  state: z.string().nullish(),
  detailsUrl: z.string().nullish(),
  targetUrl: z.string().nullish(),
})
type Rollup = z.infer<typeof Rollup>

const Seen = z.object({
  number: z.number().int(),
  url: z.url({ protocol: /^https?$/ }).max(500),
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  headRefOid: z.string(),
  isCrossRepository: z.boolean(),
  mergeCommit: z.object({ oid: z.string().regex(/^[0-9a-f]{40,64}$/) }).nullish(),
  reviewDecision: z.string().nullish(),
  mergeable: z.string().nullish(),
  statusCheckRollup: z.array(Rollup).nullish(),
})
/** A pull request as GitHub describes it. */
export type Seen = z.infer<typeof Seen>
const FIELDS = Object.keys(Seen.shape).join(',')

const PASSED = ['SUCCESS', 'NEUTRAL', 'SKIPPED']
const RUNNING = ['PENDING', 'EXPECTED', '']
const WORST_FIRST: readonly PullCheck['state'][] = ['failed', 'running', 'passed']
const MOST_CHECKS = 50
const Address = z.url({ protocol: /^https?$/ }).max(500)

/** The checks of a pull request, those that failed first. Of several tries of one check the last one counts. */
export function checksOf({ statusCheckRollup }: Seen): PullCheck[] {
  const last = new Map<string, Rollup>()
  for (const each of statusCheckRollup ?? []) {
    const before = last.get(checkOf(each))
    if (!before || (each.startedAt ?? '') >= (before.startedAt ?? '')) last.set(checkOf(each), each)
  }
  return apart([...last.values()])
    .map(({ name, each }) => ({
      name: clipped(name, 200),
      state: stateOf(each),
      url: Address.safeParse(addressOf(each)).data ?? null,
    }))
    .toSorted((one, other) => WORST_FIRST.indexOf(one.state) - WORST_FIRST.indexOf(other.state))
    .slice(0, MOST_CHECKS)
}

const nameOf = ({ name, context }: Rollup): string => name || context || 'check'
const addressOf = ({ detailsUrl, targetUrl }: Rollup): string => detailsUrl || targetUrl || ''

/** The same for all tries of a check. Another workflow, or another service, may have one of the same name. */
function checkOf(each: Rollup): string {
  const address = addressOf(each)
  const where = each.workflowName || (/\/actions\/runs\/\d+/.exec(address)?.[0] ?? URL.parse(address)?.host ?? '')
  return `${where} ${nameOf(each)}`
}

/** Each with a name of its own. */
function apart(all: readonly Rollup[]): { name: string; each: Rollup }[] {
  const given = new Map<string, number>()
  const alike = Map.groupBy(all, nameOf)
  return all.map(each => {
    const isAlone = alike.get(nameOf(each))!.length === 1
    const name = isAlone || !each.workflowName ? nameOf(each) : `${each.workflowName} / ${nameOf(each)}`
    const count = (given.get(name) ?? 0) + 1
    given.set(name, count)
    return { name: count === 1 ? name : `${name} (${count})`, each }
  })
}

function stateOf({ status, conclusion, state }: Rollup): PullCheck['state'] {
  const result = (status && status !== 'COMPLETED' ? '' : conclusion || state || '').toUpperCase()
  return PASSED.includes(result) ? 'passed' : RUNNING.includes(result) ? 'running' : 'failed'
}

export async function requireGh({ environment }: Fleet): Promise<string> {
  const program = await which('gh', environment)
  if (program) return program
  throw new Unfit('gh, the program of GitHub, was not found.', {
    try: 'Install it, so that it is on the PATH of the server, and sign in: gh auth login',
  })
}

/** Runs gh, GitHub's own program, with the sign-in that it has. */
async function gh(fleet: Fleet, args: readonly string[], input?: string): Promise<string> {
  const known = Object.entries(fleet.environment).filter((each): each is [string, string] => each[1] !== undefined)
  const { code, stdout, stderr, failure, stopped } = await runProgram({
    command: await requireGh(fleet),
    args,
    cwd: fleet.home.path,
    env: { ...Object.fromEntries(known), GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' },
    input: input ?? '',
    maxBytes: MAX_BYTES,
    timeoutMs: LIMIT_MS,
  })
  if (code === 0 && !stopped) return stdout.toString('utf8')
  if (code === SIGNED_OUT || /gh auth login/.test(stderr))
    throw new Unfit('gh, the program of GitHub, is not signed in.', { try: 'gh auth login' })
  const why = failure ?? (stopped === 'too long' ? `it took longer than ${LIMIT_MS / 1000} seconds` : stderr.trim())
  throw new Unreachable(`gh ${args.slice(0, 2).join(' ')} failed: ${clipped(why || `exit code ${code}`, TOLD_CHARS)}`)
}

function told<S extends z.ZodType>(schema: S, text: string): z.infer<S> {
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw new Unreachable('gh answered with something that is not a pull request.', { cause })
  }
}

/** Every pull request of a branch, newest first. Those of forks belong to others, whatever their branch is called. */
export async function pullRequestsOf(fleet: Fleet, repo: string, head: string): Promise<Seen[]> {
  const asked = ['--repo', repo, '--head', head, '--state', 'all', '--limit', String(MOST_LISTED), '--json', FIELDS]
  const all = told(z.array(Seen), await gh(fleet, ['pr', 'list', ...asked]))
  return all.filter(each => !each.isCrossRepository)
}

export async function seePullRequest(fleet: Fleet, repo: string, number: number): Promise<Seen> {
  return told(Seen, await gh(fleet, ['pr', 'view', String(number), '--repo', repo, '--json', FIELDS]))
}

export interface Proposal {
  head: string
  base: string
  title: string
  body: string
}

/** The number of the pull request. */
export async function openPullRequest(
  fleet: Fleet,
  repo: string,
  { head, base, title, body }: Proposal,
): Promise<number> {
  // With --head gh neither asks nor pushes. The text comes by standard input, so no argument grows with it.
  const args = ['--repo', repo, '--head', head, '--base', base, `--title=${title}`, '--body-file', '-']
  const answer = await effect('gh.pull-request', () => gh(fleet, ['pr', 'create', ...args], body))
  const number = Number(/\/pull\/(\d+)\s*$/.exec(answer)?.[1])
  if (!number) throw new Unreachable('gh did not say which pull request it made.')
  return number
}

export const MERGE_METHODS = ['squash', 'merge', 'rebase'] as const
export type MergeMethod = (typeof MERGE_METHODS)[number]

/** Merges a pull request at GitHub, if its branch is still at this commit. */
export async function mergePullRequest(
  fleet: Fleet,
  repo: string,
  { number, commit, method }: { number: number; commit: string; method: MergeMethod },
): Promise<void> {
  const args = ['--repo', repo, `--${method}`, '--match-head-commit', commit]
  await effect('gh.pull-request', () => gh(fleet, ['pr', 'merge', String(number), ...args]))
}
