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

type Add = (program: Command) => void

/** What adds which commands, in the order of help. Called in a function: loading and adding them all takes time. */
const COMMANDS: readonly (readonly [names: string, add: Add])[] = [
  ['up down', program => addServer(program)],
  ['init', program => addInit(program)],
  ['run', program => addRun(program)],
  ['mission task', program => addMission(program)],
  ['ready show tasks', program => addQueue(program)],
  ['plan', program => addPlan(program)],
  ['loop', program => addLoop(program)],
  ['project', program => addProject(program)],
  ['mcp-server', program => addMcpServer(program)],
  ['logs diff compare conflict events log', program => addWatching(program)],
  ['say interrupt inbox answer', program => addTalk(program)],
  ['approvals', program => addApprovals(program)],
  ['review', program => addReview(program)],
  ['schedule', program => addSchedule(program)],
  ['workflow', program => addWorkflow(program)],
  ['template', program => addTemplate(program)],
  ['beads bd', program => addBeads(program)],
  ['plugin', program => addPlugin(program)],
  ['takeover', program => addTakeover(program)],
  ['phone device', program => addDevices(program)],
  ['preview remote', program => addSideProcesses(program)],
  ['host', program => addHost(program)],
  ['worktree', program => addWorktree(program)],
  ['status doctor agents costs pause unpause clean', program => addAbout(program)],
  ['config', program => addConfig(program)],
  ['backup restore', program => addBackup(program)],
  ['call', program => addCall(program)],
  ['mcp', program => addMcp(program)],
  // Completion knows every command, so it is no command by itself.
  ['', program => addCompletion(program)],
  ['demo', program => addDemo(program)],
  ['mcp', program => addMcpInstall(program)],
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
    .helpCommand('help [command]', 'print help for a command')
    .option('--json', 'print JSON')
    .option('--home <folder>', 'the home of the fleet (default: $FLEET_HOME or ~/.flotilla)')
    .option('--url <address>', 'ask the server at this address (default inside a session: $FLEET_URL)')
    .addHelpText('after', `\nAny unambiguous beginning of an id will do.\n\n${EXIT_HELP}`)
  const named = COMMANDS.filter(([names]) => only && names.split(' ').includes(only))
  for (const [, add] of named.length ? named : COMMANDS) add(program)
  return program
}

/** Runs one command line and answers with its exit code. */
export async function run(args: readonly string[], invocation: Invocation): Promise<number> {
  const { streams } = invocation
  const program = makeProgram(args[0])
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
