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
    .description('create a fleet.toml and suggest settings for the repository you are in')
    .option('-y, --yes', 'accept the suggestion without asking')
    .option('--replace', 'replace settings that the project already has')
    .option('--force', 'replace an existing fleet.toml and keep it as fleet.toml.old')
  does(init, async (cli, _, options) => {
    const { terminal } = cli
    const home = prepareHome(cli, options.force === true)
    const { agents } = await cli.ask<{ agents: Candidate[] }>('list_agents', {})
    const location = await locate(terminal.streams.cwd)
    if (!location) {
      terminal.tell({ ...home, project: null }, () =>
        terminal.note('To get suggested settings for a repository, run fleet init there.'),
      )
      return
    }
    const path = location.main ?? location.top
    const { because, ...found } = propose(await listingOf(location.top))
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
    if (isSettled) return void terminal.print(`No changes for project ${current.name} (${current.id}).`)
    if (!isAgreed) return void terminal.note('The project was not changed. To apply these settings: fleet init --yes')
    terminal.print(`${current ? 'Changed' : 'Added'} project ${project!.name} (${project!.id}).`)
    if (!current) tellOtherName(cli, project!)
    terminal.note('Next: fleet run "what to do"')
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
  same: () => '  (unchanged)',
  kept: ({ current }) => `  (not applied: it stays ${inOneLine(current)}; --replace applies it)`,
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
  if (!hasAgent) terminal.note('No coding agent is installed and signed in. See fleet doctor.')
  if (!lines.some(({ field }) => field === 'checks') && !current?.checks.length)
    terminal.note('No checks were found. Add one: fleet project set <project> --check "shell command"')
}

async function agreed({ terminal: { streams } }: Cli): Promise<boolean> {
  const questions = createInterface({ input: streams.stdin, output: streams.stderr })
  try {
    return /^(y|yes|)$/i.test((await questions.question('Apply these settings? [Y/n] ')).trim())
  } catch {
    return false
  } finally {
    questions.close()
  }
}
