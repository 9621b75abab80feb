import { Command, CommanderError, Help, type Option } from 'commander'
import { VERSION } from '../platform/version.ts'
import { asOurs } from './as/whole-commands.ts'
import { exitCodeOf, type Invocation, setInvocation } from './command.ts'
import { addAbout } from './commands/about.ts'
import { addAgents } from './commands/agents.ts'
import { addApprovals } from './commands/approvals.ts'
import { addAs } from './commands/as.ts'
import { addAudit } from './commands/audit.ts'
import { addBackup } from './commands/backup.ts'
import { addBeads } from './commands/beads.ts'
import { addBlackboard } from './commands/blackboard.ts'
import { addCall } from './commands/call.ts'
import { addCheckpoint } from './commands/checkpoint.ts'
import { addComplete, addCompletion } from './commands/completion.ts'
import { addConfig } from './commands/config.ts'
import { addDemo } from './commands/demo.ts'
import { addDevices } from './commands/device.ts'
import { addEveryday } from './commands/everyday.ts'
import { addHost } from './commands/host.ts'
import { addInit } from './commands/init.ts'
import { addLoop } from './commands/loop.ts'
import { addMail } from './commands/mail.ts'
import { addMcp } from './commands/mcp.ts'
import { addMcpInstall } from './commands/mcp-install.ts'
import { addMcpServer } from './commands/mcp-server.ts'
import { addMember } from './commands/member.ts'
import { addMetrics } from './commands/metrics.ts'
import { addMission } from './commands/mission.ts'
import { addMonitor } from './commands/monitor.ts'
import { addOpen } from './commands/open.ts'
import { addPeople } from './commands/people.ts'
import { addPlan } from './commands/plan.ts'
import { addPlugin } from './commands/plugin.ts'
import { addProject } from './commands/project.ts'
import { addQueue } from './commands/queue.ts'
import { addReview } from './commands/review.ts'
import { addRun } from './commands/run.ts'
import { addSchedule } from './commands/schedule.ts'
import { addSearch } from './commands/search.ts'
import { addServer } from './commands/server.ts'
import { addService } from './commands/service.ts'
import { addSetup } from './commands/setup.ts'
import { addSideProcesses } from './commands/side-processes.ts'
import { addSkills } from './commands/skills.ts'
import { addSpec } from './commands/spec.ts'
import { addStore } from './commands/store.ts'
import { addSwarm } from './commands/swarm.ts'
import { addTakeover } from './commands/takeover.ts'
import { addTalk } from './commands/talk.ts'
import { addTeam } from './commands/team.ts'
import { addTemplate } from './commands/template.ts'
import { addUpkeep } from './commands/upkeep.ts'
import { addWatching } from './commands/watching.ts'
import { addWorkflow } from './commands/workflow.ts'
import { addWorktree } from './commands/worktree.ts'
import { complain, usageError } from './errors.ts'
import { examplesOf, HELP_END } from './examples.ts'
import { EXIT, EXIT_HELP, exitOfError } from './exit.ts'
import { verbatim } from './verbatim.ts'

type Add = (program: Command) => void

/** The groups of commands in help, in order. */
const GROUPS = {
  start: 'Start here:',
  work: 'Everyday work:',
  plan: 'Plan and automate:',
  set: 'Projects and agents:',
  operate: 'Operate:',
} as const

type Added = readonly [group: keyof typeof GROUPS, names: string, add: Add]

/** What adds which commands, in the order of help. Called in a function: loading and adding them all takes time. */
const COMMANDS: readonly Added[] = [
  ['start', 'open', program => addOpen(program)],
  ['start', 'demo', program => addDemo(program)],
  ['start', 'run', program => addRun(program)],
  ['start', 'status doctor', program => addAbout(program)],
  ['start', 'init', program => addInit(program)],
  ['work', 'list ls land undo retry cancel', program => addEveryday(program)],
  ['work', 'show ready tasks', program => addQueue(program)],
  ['work', 'logs diff compare conflict events log', program => addWatching(program)],
  ['work', 'search', program => addSearch(program)],
  ['work', 'inbox answer say interrupt', program => addTalk(program)],
  ['work', 'review', program => addReview(program)],
  ['work', 'takeover', program => addTakeover(program)],
  ['work', 'preview remote', program => addSideProcesses(program)],
  ['plan', 'mission task', program => addMission(program)],
  ['plan', 'plan', program => addPlan(program)],
  ['plan', 'loop', program => addLoop(program)],
  ['plan', 'workflow', program => addWorkflow(program)],
  ['plan', 'spec', program => addSpec(program)],
  ['plan', 'schedule', program => addSchedule(program)],
  ['plan', 'template', program => addTemplate(program)],
  ['plan', 'team', program => addTeam(program)],
  ['plan', 'member', program => addMember(program)],
  ['plan', 'monitor', program => addMonitor(program)],
  ['plan', 'swarm', program => addSwarm(program)],
  ['plan', 'blackboard', program => addBlackboard(program)],
  ['plan', 'checkpoint', program => addCheckpoint(program)],
  ['plan', 'mail', program => addMail(program)],
  ['plan', 'beads bd', program => addBeads(program)],
  ['set', 'project', program => addProject(program)],
  ['set', 'agents costs', program => addAgents(program)],
  ['set', 'approvals', program => addApprovals(program)],
  ['set', 'plugin', program => addPlugin(program)],
  ['set', 'mcp', program => addMcp(program)],
  ['set', 'mcp', program => addMcpInstall(program)],
  ['set', 'setup', program => addSetup(program)],
  ['set', 'skills', program => addSkills(program)],
  ['set', 'mcp-server', program => addMcpServer(program)],
  ['operate', 'up down', program => addServer(program)],
  ['operate', 'service', program => addService(program)],
  ['operate', 'health metrics', program => addMetrics(program)],
  ['operate', 'pause unpause clean', program => addUpkeep(program)],
  ['operate', 'worktree', program => addWorktree(program)],
  ['operate', 'config', program => addConfig(program)],
  ['operate', 'backup restore', program => addBackup(program)],
  ['operate', 'store', program => addStore(program)],
  ['operate', 'phone device', program => addDevices(program)],
  ['operate', 'login logout whoami user role token', program => addPeople(program)],
  ['operate', 'audit', program => addAudit(program)],
  ['operate', 'host', program => addHost(program)],
  ['operate', 'as', program => addAs(program)],
  ['operate', 'call', program => addCall(program)],
  ['operate', 'complete', program => addComplete(program)],
  // Completion knows every command, so it is no command by itself.
  ['operate', '', program => addCompletion(program)],
]

/**
 * The tree of commands; help, completion and the reference page are made from it. With the name of a command, only what
 * adds that one.
 */
export function makeProgram(only?: string): Command {
  const program = new Command('fleet')
    .description(
      'Run fleets of coding agents on real repositories: each mission in its own worktree, checked, and landed.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpCommand(helpCommand().helpGroup(GROUPS.operate))
    .option('--json', 'print JSON')
    .option('--home <folder>', 'the home of the fleet (default: $FLEET_HOME or ~/.flotilla)')
    .option('--url <address>', 'ask the server at this address (default: $FLEET_URL, or the fleet of fleet login)')
  const named = COMMANDS.filter(([, names]) => only && names.split(' ').includes(only))
  for (const [group, , add] of named.length ? named : COMMANDS) {
    program.commandsGroup(GROUPS[group])
    add(program)
  }
  // Made only where help is printed: other commands need none of it.
  for (const command of everyCommand(program)) {
    command.addHelpText('after', () => examplesOf(command))
    if (command !== program && command.commands.length) command.addHelpCommand(helpCommand())
  }
  return program.addHelpText('after', () => `\n${HELP_END}\n\n${EXIT_HELP}`)
}

const helpCommand = (): Command => new Command('help').argument('[command]').description('print help for a command')

/** Runs one command line and answers with its exit code. */
export async function run(given: readonly string[], invocation: Invocation): Promise<number> {
  const { streams } = invocation
  const args = isBare(given) ? [...given, 'status'] : asOurs(given, streams.env)
  const program = makeProgram(args[0])
  let wrong = ''
  for (const command of everyCommand(program)) {
    command
      .exitOverride()
      .configureHelp({
        showGlobalOptions: true,
        visibleGlobalOptions,
        helpWidth: HELP_WIDTH,
        // The arguments of each command would leave no room for what it does.
        ...((command === program || command.commands.length > MANY) && {
          subcommandTerm: each => [each.name(), ...each.aliases()].join(', '),
        }),
      })
      .configureOutput({
        writeOut: text => void streams.stdout.write(text),
        writeErr: text => void streams.stderr.write(text),
        outputError: text => {
          wrong += text
        },
      })
  }
  setInvocation(program, invocation)
  const asJson = () => program.opts().json === true
  try {
    await program.parseAsync(verbatim(args), { from: 'user' })
    return exitCodeOf(program)
  } catch (error) {
    const isUsage = error instanceof CommanderError
    if (isUsage && error.exitCode === 0) return EXIT.done
    // A group without a command: its help was printed.
    if (isUsage && error.code === 'commander.help') return EXIT.usage
    const problem = isUsage ? usageError(wrong || error.message, program, args) : error
    complain(problem, streams, asJson())
    return exitOfError(problem)
  }
}

const HELP_WIDTH = 80
/** A list of so many commands shows their names only. */
const MANY = 20

/** `fleet` alone is `fleet status`, which says what to do next. */
const isBare = (args: readonly string[]): boolean =>
  args.every((arg, i) => /^--(json|home|url)(=|$)/.test(arg) || /^--(home|url)$/.test(args[i - 1] ?? ''))

/** The global options, except those that the command has itself with another meaning. */
const visibleGlobalOptions = (command: Command): Option[] =>
  Object.assign(new Help(), { showGlobalOptions: true })
    .visibleGlobalOptions(command)
    .filter(option => !command.options.some(own => own.long === option.long))

export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}
