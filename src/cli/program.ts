import { Command, CommanderError, Help, type Option } from 'commander'
import { Refusal, Unavailable } from '../domain/errors.ts'
import { safe } from '../platform/safe-text.ts'
import { VERSION } from '../platform/version.ts'
import { exitCodeOf, type Invocation, setInvocation } from './command.ts'
import { addAbout } from './commands/about.ts'
import { addApprovals } from './commands/approvals.ts'
import { addBackup } from './commands/backup.ts'
import { addBeads, verbatim } from './commands/beads.ts'
import { addCall } from './commands/call.ts'
import { addCompletion } from './commands/completion.ts'
import { addConfig } from './commands/config.ts'
import { addDemo } from './commands/demo.ts'
import { addDevices } from './commands/device.ts'
import { addHost } from './commands/host.ts'
import { addInit } from './commands/init.ts'
import { addLoop } from './commands/loop.ts'
import { addMcp } from './commands/mcp.ts'
import { addMcpInstall } from './commands/mcp-install.ts'
import { addMcpServer } from './commands/mcp-server.ts'
import { addMission } from './commands/mission.ts'
import { addPlan } from './commands/plan.ts'
import { addPlugin } from './commands/plugin.ts'
import { addProject } from './commands/project.ts'
import { addQueue } from './commands/queue.ts'
import { addReview } from './commands/review.ts'
import { addRun } from './commands/run.ts'
import { addSchedule } from './commands/schedule.ts'
import { addServer } from './commands/server.ts'
import { addSideProcesses } from './commands/side-processes.ts'
import { addTakeover } from './commands/takeover.ts'
import { addTalk } from './commands/talk.ts'
import { addTemplate } from './commands/template.ts'
import { addWatching } from './commands/watching.ts'
import { addWorkflow } from './commands/workflow.ts'
import { addWorktree } from './commands/worktree.ts'
import { EXIT, EXIT_HELP, Exit, exitOfError } from './exit.ts'
import type { Streams } from './terminal.ts'

/** The whole tree of commands; help, completion and the reference page are made from it. */
export function makeProgram(): Command {
  const program = new Command('fleet')
    .description(
      'Run fleets of coding agents on real repositories: each mission in its own worktree, checked, and landed.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .option('--json', 'print JSON')
    .option('--home <folder>', 'the home of the fleet (default: $FLEET_HOME or ~/.flotilla)')
    .option('--url <address>', 'ask the server at this address (default inside a session: $FLEET_URL)')
    .addHelpText('after', `\nAny unambiguous beginning of an id will do.\n\n${EXIT_HELP}`)
  for (const add of [
    addServer,
    addInit,
    addRun,
    addMission,
    addQueue,
    addPlan,
    addLoop,
    addProject,
    addMcpServer,
    addWatching,
    addTalk,
    addApprovals,
    addReview,
    addSchedule,
    addWorkflow,
    addTemplate,
    addBeads,
    addPlugin,
    addTakeover,
    addDevices,
    addSideProcesses,
    addHost,
    addWorktree,
    addAbout,
    addConfig,
    addBackup,
    addCall,
    addMcp,
    addCompletion,
    addDemo,
    addMcpInstall,
  ])
    add(program)
  return program
}

/** Runs one command line and answers with its exit code. */
export async function run(args: readonly string[], invocation: Invocation): Promise<number> {
  const { streams } = invocation
  const program = makeProgram()
  for (const command of everyCommand(program)) {
    command
      .exitOverride()
      .configureHelp({ showGlobalOptions: true, visibleGlobalOptions })
      .configureOutput({
        writeOut: text => void streams.stdout.write(text),
        writeErr: text => void streams.stderr.write(text),
      })
  }
  setInvocation(program, invocation)
  try {
    await program.parseAsync(verbatim(args), { from: 'user' })
    return exitCodeOf(program)
  } catch (error) {
    if (error instanceof CommanderError) return asked(error) ? EXIT.done : EXIT.usage
    complain(error, streams)
    return exitOfError(error)
  }
}

/** The global options, except those that the command has itself with another meaning. */
const visibleGlobalOptions = (command: Command): Option[] =>
  Object.assign(new Help(), { showGlobalOptions: true })
    .visibleGlobalOptions(command)
    .filter(option => !command.options.some(own => own.long === option.long))

export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

const asked = (error: CommanderError): boolean => error.exitCode === 0

/** One sentence, and what to do next. */
function complain(error: unknown, streams: Streams): void {
  if (error instanceof Exit) return
  const say = (line: string) => streams.stderr.write(`${streams.stderr.isTTY ? safe(line) : line}\n`)
  say(`fleet: ${error instanceof Error ? error.message : String(error)}`)
  const isKnown = error instanceof Refusal || error instanceof Unavailable
  if (isKnown && error.hint) say(`  Try: ${error.hint}`)
  else if (!isKnown && streams.env.FLEET_DEBUG) say(String((error as Error).stack))
}
