import { resolve } from 'node:path'
import type { Command } from 'commander'
import { shortId } from '../../domain/ids.ts'
import { ISOLATIONS, LANDING_POLICIES, type Project, TOOL_PRESETS } from '../../domain/records/project.ts'
import { addFields, type Cli, does, type Field, inputFrom } from '../command.ts'
import { APPROVALS_FIELD, CONTEXT_FIELD, ENGINE_FIELD, PREVIEW_FIELD, SPARSE_FIELD } from '../mission-fields.ts'
import { projectRef, tellOtherName } from '../project-here.ts'

export const PROJECT_FIELDS: readonly Field[] = [
  { flags: '--name <name>', field: 'name', summary: 'name' },
  { flags: '--description <text>', field: 'description', summary: 'description', kind: 'text' },
  { flags: '--agent <agent>', field: 'agent', summary: 'default coding agent; not shell' },
  { flags: '--model <model>', field: 'model', summary: 'default model' },
  { flags: '--base <branch>', field: 'base_branch', summary: 'the branch that work starts from and lands on' },
  {
    flags: '--landing <policy>',
    field: 'landing',
    summary: 'what happens to finished work (default: review)',
    choices: LANDING_POLICIES,
  },
  {
    flags: '--setup <line>',
    field: 'setup_command',
    summary: 'shell command to run in each new worktree before the agent starts',
  },
  {
    flags: '--setup-inputs <files>',
    field: 'setup_inputs',
    summary: 'files that decide what the setup command makes (default: lock files of package managers)',
    kind: 'list',
  },
  {
    flags: '--warm <folders>',
    field: 'warm',
    summary: 'folders of the setup command that are kept for the next mission, such as node_modules',
    kind: 'list',
  },
  SPARSE_FIELD,
  PREVIEW_FIELD,
  {
    flags: '--copy <files>',
    field: 'copy_files',
    summary: 'ignored files to copy into each worktree, such as .env',
    kind: 'list',
  },
  { flags: '--instructions <text>', field: 'instructions', summary: 'instructions for every agent', kind: 'text' },
  {
    flags: '--max-concurrent <n>',
    field: 'max_concurrent',
    summary: 'maximum number of agents at the same time',
    kind: 'number',
  },
  { flags: '--turns <n>', field: 'max_turns', summary: 'maximum number of turns per session', kind: 'number' },
  { flags: '--budget <usd>', field: 'max_budget_usd', summary: 'maximum cost per mission', kind: 'number' },
  {
    flags: '--daily-budget <usd>',
    field: 'daily_budget_usd',
    summary: 'maximum cost per day',
    kind: 'number',
  },
  {
    flags: '--disk-limit <gb>',
    field: 'disk_limit_gb',
    summary: 'gigabytes its worktrees may use before new missions wait',
    kind: 'number',
  },
  {
    flags: '--keep-worktrees <days>',
    field: 'keep_worktrees_days',
    summary: 'days after which worktrees of failed and cancelled missions are removed',
    kind: 'number',
  },
  APPROVALS_FIELD,
  { flags: '--timeout <seconds>', field: 'timeout_seconds', summary: 'maximum duration of a session', kind: 'number' },
  CONTEXT_FIELD,
  {
    flags: '--retries <n>',
    field: 'max_retries',
    summary: 'number of automatic retries of a failed mission',
    kind: 'number',
  },
  ENGINE_FIELD,
  { flags: '--preset <preset>', field: 'tool_preset', summary: 'tools that agents may use', choices: TOOL_PRESETS },
  {
    flags: '--environment <names>',
    field: 'environment',
    summary: 'environment variables of the server that agents may see',
    kind: 'list',
  },
  {
    flags: '--isolation <kind>',
    field: 'isolation',
    summary: 'a repository of its own for each mission, or a linked worktree of yours (weaker)',
    choices: ISOLATIONS,
  },
  {
    flags: '--hooks <on|off>',
    field: 'hooks',
    summary: 'whether the hooks of the repository run for commits of agents',
    choices: ['on', 'off'],
  },
  { flags: '--allow-push', field: 'allow_push', summary: 'let agents push', kind: 'flag' },
  { flags: '--no-allow-push', field: 'allow_push', summary: 'do not let agents push', kind: 'flag' },
  {
    flags: '--agents-may-land',
    field: 'agents_may_land',
    summary: 'let an agent with a JWT land, if its role does',
    kind: 'flag',
  },
  {
    flags: '--no-agents-may-land',
    field: 'agents_may_land',
    summary: 'people and services land, and no agent does',
    kind: 'flag',
  },
]

const CHECK = '--check <name=line>'
const CHECK_SUMMARY = 'a shell line that must pass before work lands; may be repeated, empty for none'

export function addProject(program: Command): void {
  const project = program.command('project').description('manage projects and their settings')

  const add = project
    .command('add')
    .description('add a repository as a project')
    .argument('[path]', 'path of the repository', '.')
  addFields(add, PROJECT_FIELDS).option(CHECK, CHECK_SUMMARY, collectCheck)
  add.option('--template <name>', 'use the settings of this template; see fleet template')
  add.option('--no-worktree', 'use a plain folder instead of a repository: one mission at a time, nothing lands')
  does(add, async (cli, [path], options) => {
    const full = resolve(cli.terminal.streams.cwd, path!)
    const worktree = options.worktree === false ? { worktree: 'none' } : {}
    const input = { ...settings(options), path: full, ...worktree }
    const { template } = options
    const made =
      template === undefined
        ? await told(cli, 'create_project', input, 'Added')
        : await told(cli, 'create_project_from_template', { ...input, template }, 'Added')
    if (options.name === undefined) tellOtherName(cli, made)
  })

  does(
    project
      .command('list')
      .alias('ls')
      .description('list projects')
      .option('--limit <n>', 'maximum number', Number, 50),
    async (cli, _, options) => {
      const answer = await cli.ask<{ projects: Project[] }>('list_projects', { limit: options.limit })
      if (cli.terminal.json) return void cli.terminal.data(answer)
      if (!answer.projects.length)
        return void cli.terminal.note('There are no projects yet. Add one: fleet project add <path>')
      cli.terminal.table<Project>(
        [
          { title: 'ID', value: each => shortId(each.id) },
          { title: 'NAME', value: each => each.name, flexible: true },
          { title: 'BASE', value: each => each.base_branch },
          { title: 'LANDING', value: each => each.landing },
          { title: 'AGENT', value: each => each.agent ?? '' },
          {
            title: '',
            value: each => (each.paused ? 'paused' : ''),
            paint: text => cli.terminal.paint('yellow', text),
          },
          { title: 'PATH', value: each => each.path, flexible: true },
        ],
        answer.projects,
      )
    },
  )

  does(
    project.command('show').description('show a project and its settings').argument('<project>', 'id, name or path'),
    async (cli, [given]) => {
      const found = await cli.ask<Project>('get_project', {
        project_id: await projectRef(cli, given!),
      })
      cli.terminal.tell(found, () => describe(cli, found))
    },
  )

  const set = project
    .command('set')
    .description('change settings; an empty value resets one')
    .argument('<project>', 'id, name or path')
  addFields(set, PROJECT_FIELDS).option(CHECK, CHECK_SUMMARY, collectCheck)
  does(set, async (cli, [given], options) => {
    await told(cli, 'update_project', { project_id: await projectRef(cli, given!), ...settings(options) }, 'Changed')
  })

  does(
    project
      .command('warm')
      .description('prepare worktrees ahead, so that the next missions start at once')
      .argument('<project>', 'id, name or path')
      .option('--count <n>', 'how many should wait for missions', Number, 1),
    async (cli, [given], { count }) => {
      const input = { project_id: await projectRef(cli, given!), count }
      const answer = await cli.ask<{ ready: number; preparing: number }>('warm_project', input)
      cli.terminal.tell(answer, () =>
        cli.terminal.print(`Ready: ${answer.ready}. Being prepared: ${answer.preparing}. See fleet worktree list.`),
      )
    },
  )

  does(
    project
      .command('check')
      .description('run the checks on the current commit of the base branch, and wait for the result')
      .argument('<project>', 'id, name or path')
      .option('--only <check>', 'run only this check')
      .option('--stop', 'end the checks that are running'),
    async (cli, [given], options) => {
      const { checkProject } = await import('../check-project.ts')
      return checkProject(cli, await projectRef(cli, given!), options)
    },
  )

  does(
    project
      .command('remove')
      .alias('rm')
      .description('remove a project and its missions; branches stay in the repository')
      .argument('<project>', 'id, name or path')
      .option('--discard', 'delete uncommitted work too'),
    async (cli, [given], { discard }) => {
      const input = { project_id: await projectRef(cli, given!), ...(discard === true && { discard }) }
      const answer = await cli.ask<{ deleted: string; repository: string | null }>('delete_project', input)
      const { deleted, repository } = answer
      cli.terminal.tell(answer, () =>
        cli.terminal.print(`Removed project ${deleted}. Its repository is ${repository ? 'unchanged' : 'gone'}.`),
      )
    },
  )
}

interface Check {
  name: string
  command: string
}

/** `lint=npm run lint`. Without a name, the line itself is the name. */
export function collectCheck(text: string, before: Check[] = []): Check[] {
  if (text === '') return before
  const [, name, line] = /^([\w -]{1,40})=(.*)$/s.exec(text) ?? [undefined, text.slice(0, 80), text]
  return [...before, { name: name!, command: line! }]
}

function settings(options: Record<string, unknown>): Record<string, unknown> {
  return { ...inputFrom(PROJECT_FIELDS, options), ...(options.check !== undefined && { checks: options.check }) }
}

async function told(cli: Cli, operation: string, input: object, verb: string): Promise<Project> {
  const project = await cli.ask<Project>(operation, input)
  if (cli.terminal.json) cli.terminal.data(project)
  else {
    cli.terminal.print(`${verb} project ${project.name} (${project.id}).`)
    describe(cli, project)
  }
  return project
}

/** In an earlier version a project could have shell as its agent. Now shell runs only missions that name it. */
const agentOf = ({ agent }: Project): string =>
  agent === 'shell'
    ? 'shell (runs only missions that name it; others are refused: choose a coding agent with --agent)'
    : (agent ?? 'none yet: the first one that is installed is chosen when it is needed')

function describe({ terminal }: Cli, project: Project): void {
  const number = (value: number | null): string => (value === null ? '' : String(value))
  const dollars = (value: number | null): string => (value === null ? '' : `$${value}`)
  terminal.facts([
    ['id', project.id],
    ['name', project.name],
    ['description', project.description],
    ['path', project.path],
    ['worktrees', project.worktree === 'none' ? 'none: its missions run in the folder itself, one at a time' : ''],
    ['base branch', project.base_branch],
    ['landing', project.landing],
    ['paused', project.paused ? 'yes' : ''],
    ['agent', agentOf(project)],
    ['model', project.model],
    ['engine', project.engine],
    ['preset', project.tool_preset],
    [
      'checks',
      project.checks
        .map(check => (check.name === check.command ? check.command : `${check.name}: ${check.command}`))
        .join('\n'),
    ],
    ['setup', project.setup_command],
    ['setup inputs', project.setup_inputs.join(', ')],
    ['kept warm', project.warm.join(', ')],
    ['checked out', project.sparse.join(', ')],
    ['preview', project.preview_command],
    ['copied files', project.copy_files.join(', ')],
    ['environment', project.environment.join(', ')],
    ['at once', number(project.max_concurrent)],
    ['turns', number(project.max_turns)],
    ['budget', dollars(project.max_budget_usd)],
    ['budget a day', dollars(project.daily_budget_usd)],
    ['disk limit', project.disk_limit_gb === null ? '' : `${project.disk_limit_gb} GB`],
    ['worktrees kept', project.keep_worktrees_days === null ? '' : `${project.keep_worktrees_days} days`],
    ['context limit', project.context_limit_percent === null ? '' : `${project.context_limit_percent} %`],
    ['approvals', project.approvals],
    ['timeout', project.timeout_seconds === null ? '' : `${project.timeout_seconds} s`],
    ['retries', number(project.max_retries)],
    ['may push', project.allow_push ? 'yes' : ''],
    ['agents may land', project.agents_may_land ? 'yes' : ''],
    [
      'isolation',
      project.isolation === 'linked'
        ? 'linked: its worktrees share git’s refs, stash and configuration with yours'
        : '',
    ],
    ['hooks', project.hooks === 'off' ? 'off' : ''],
    ['instructions', project.instructions],
  ])
}
