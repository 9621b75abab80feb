import { execFile } from 'node:child_process'
import { setTimeout as passed } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { FleetApi, Plugin, Told } from '../plugin.ts'
import { text } from '../wanted.ts'

const run = promisify(execFile)
const LIMIT_MS = 30_000
const MAX_BUFFER = 16 * 1024 * 1024
const MAX_TITLE_CHARS = 300
const SHORTEST_PAUSE_SECONDS = 5
const USUAL_PAUSE_SECONDS = 60

type Settings = FleetApi['settings']

interface Issue {
  number: number
  title: string
  body: string
  url: string
}

/** Runs GitHub's own program with its sign-in. */
const gh = async (...args: string[]): Promise<string> =>
  (await run('gh', args, { timeout: LIMIT_MS, maxBuffer: MAX_BUFFER })).stdout

const labelIn = ({ label = 'flotilla' }: Settings): string => String(label)

function pauseIn({ every_seconds = USUAL_PAUSE_SECONDS }: Settings): number {
  const seconds = Number(every_seconds)
  if (!(seconds >= SHORTEST_PAUSE_SECONDS))
    throw new Error(`"every_seconds" must be a number of at least ${SHORTEST_PAUSE_SECONDS}.`)
  return seconds * 1000
}

async function openIssues(settings: Settings): Promise<Issue[]> {
  const chosen = ['--repo', text(settings, 'repo'), '--label', labelIn(settings), '--state', 'open', '--limit', '100']
  return JSON.parse(await gh('issue', 'list', ...chosen, '--json', 'number,title,body,url')) as Issue[]
}

async function takeUp({ settings, call }: FleetApi, { number, title, body, url }: Issue): Promise<void> {
  const mission = {
    project_id: text(settings, 'project'),
    title: title.slice(0, MAX_TITLE_CHARS),
    detailed_prompt: `${title}\n\n${body}\n\nThis is issue #${number} (${url}).`,
    tags: ['github'],
    metadata: { github: { repo: text(settings, 'repo'), number, url } },
    auto_dispatch: settings.dispatch === true,
  }
  // The key makes an issue one mission, also after a restart.
  await call('create_mission', mission, { key: url })
}

async function follow(fleet: FleetApi): Promise<never> {
  const taken = new Set<string>()
  let silent = false
  for (;;) {
    try {
      for (const issue of await openIssues(fleet.settings)) {
        if (taken.has(issue.url)) continue
        await takeUp(fleet, issue)
        taken.add(issue.url)
      }
      silent = false
    } catch (error) {
      if (!silent) fleet.log(`Issues cannot be imported: ${(error as Error).message}`)
      silent = true
    }
    await passed(pauseIn(fleet.settings))
  }
}

async function comment({ mission }: Told, { settings }: FleetApi, words: string): Promise<void> {
  const from = mission?.metadata.github as { repo?: string; number?: number } | undefined
  if (from?.repo !== text(settings, 'repo') || !Number.isInteger(from.number)) return
  await gh('issue', 'comment', String(from.number), '--repo', from.repo, '--body', words)
}

export default {
  description: 'Makes a mission from every GitHub issue with a label, and reports the result there (needs gh).',

  start(fleet) {
    text(fleet.settings, 'repo')
    text(fleet.settings, 'project')
    pauseIn(fleet.settings)
    void follow(fleet)
  },

  hooks: {
    post_complete: (told, fleet) => comment(told, fleet, `Done: ${told.mission?.result}.`),
    post_fail: (told, fleet) => comment(told, fleet, `Failed: ${told.event.cause ?? 'no reason was given'}`),
  },
} satisfies Plugin
