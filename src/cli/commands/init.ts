import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import type { Project } from '../../domain/records/project.ts'
import { locate } from '../../git/locate.ts'
import { type Cli, does } from '../command.ts'
import { listingOf } from '../init/look.ts'
import { propose } from '../init/proposal.ts'
import { type Candidate, changesOf, chooseAgent, type Line, type Proposed, settle } from '../init/settle.ts'
import { projectsAt, tellOtherName } from '../project-here.ts'
import { prepareHome } from './config.ts'

export function addInit(program: Command): void {
  const init = program
    .command('init')
    .description('prepare the home with a fleet.toml, and propose settings for the repository you stand in')
    .option('-y, --yes', 'take the proposal without asking')
    .option('--replace', 'also in place of settings that the project has already')
    .option('--force', 'also if there is a fleet.toml; that is kept beside as fleet.toml.old')
  does(init, async (cli, _, options) => {
    const { terminal } = cli
    const home = prepareHome(cli, options.force === true)
    const { agents } = await (await cli.client()).call<{ agents: Candidate[] }>('list_agents', {})
    const place = await locate(terminal.streams.cwd)
    if (!place) {
      if (terminal.json) terminal.data({ ...home, project: null })
      else terminal.note('To have settings proposed for a repository, type fleet init there.')
      return
    }
    const path = place.main ?? place.top
    const { because, ...found } = propose(await listingOf(place.top))
    const agent = chooseAgent(agents)
    const proposed: Proposed = { agent: agent?.name ?? null, ...found }
    const [current] = await projectsAt(cli, path)
    const lines = settle(proposed, current, options.replace === true)
    const changes = changesOf(proposed, lines)
    const isSettled = current !== undefined && Object.keys(changes).length === 0
    if (!terminal.json) tell(cli, { path, because, lines, current, hasAgent: agent !== undefined })
    const asks = !isSettled && !options.yes && terminal.interactive && !terminal.json
    const isAgreed = !isSettled && (options.yes === true || (asks && (await agreed(cli))))
    const project = isAgreed ? await apply(cli, path, current, changes) : current
    if (terminal.json)
      return void terminal.data({ ...home, path, because, settings: lines, changed: isAgreed, project })
    if (isSettled) return void terminal.print(`Nothing to change in project ${current.name} (${current.id}).`)
    if (!isAgreed) return void terminal.note('The project was not changed. To take these settings: fleet init --yes')
    terminal.print(`${current ? 'Changed' : 'Made'} project ${project!.name} (${project!.id}).`)
    if (!current) tellOtherName(cli, project!)
    terminal.note('Now: fleet run "what is to be done"')
  })
}

async function apply(
  cli: Cli,
  path: string,
  current: Project | undefined,
  changes: Partial<Project>,
): Promise<Project> {
  const client = await cli.client()
  if (!current) return client.call<Project>('create_project', { path, ...changes })
  return client.call<Project>('update_project', { project_id: current.id, ...changes })
}

const TITLES: Record<Line['field'], string> = {
  agent: 'agent',
  setup_command: 'setup',
  checks: 'checks',
  copy_files: 'copied files',
}
const REMARKS: Record<Line['what'], (line: Line) => string> = {
  set: () => '',
  same: () => '  (as it is)',
  kept: ({ current }) => `  (not taken: it stays ${inOneLine(current)}; --replace takes it)`,
  replaced: ({ current }) => `  (instead of ${inOneLine(current)})`,
}
const inOneLine = (text: string): string => text.replaceAll('\n', ', ')

interface Told {
  path: string
  because: readonly string[]
  lines: readonly Line[]
  current: Project | undefined
  hasAgent: boolean
}

function tell({ terminal }: Cli, { path, because, lines, current, hasAgent }: Told): void {
  terminal.print(`${path}${current ? '' : ', not a project yet'}${because.length ? `: ${because.join(', ')}` : ''}`)
  terminal.facts(lines.map(line => [TITLES[line.field], line.proposed + REMARKS[line.what](line)]))
  if (!hasAgent) terminal.note('No coding agent was found that is installed and signed in. See fleet doctor.')
  if (!lines.some(({ field }) => field === 'checks') && !current?.checks.length)
    terminal.note('Nothing says how it is checked. Later: fleet project set <project> --check "a shell line"')
}

async function agreed({ terminal: { streams } }: Cli): Promise<boolean> {
  const questions = createInterface({ input: streams.stdin, output: streams.stderr })
  try {
    return /^(y|yes|)$/i.test((await questions.question('Take these settings? [Y/n] ')).trim())
  } catch {
    return false
  } finally {
    questions.close()
  }
}
