import { Argument, type Command } from 'commander'
import type { Cafleet } from '../as/cafleet.ts'
import { type Cli, countFrom, does } from '../command.ts'

type Options = Record<string, unknown>
type Verb = (cli: Cafleet, args: string[], options: Options) => Promise<unknown>

/** Runs a verb with what the options say. The exit code is 1 for a refusal and 2 for a wrong use, as there. */
function runs(command: Command, verb: (all: Verbs) => Verb | Promise<Verb>): void {
  does(command, async (cli: Cli, args, options) => {
    const all = { ...(await import('../as/cafleet.ts')), ...(await import('../as/cafleet-members.ts')) }
    return all.asCafleet(cli, options, async (here: Cafleet) => (await verb(all))(here, args, options))
  })
}

type Verbs = typeof import('../as/cafleet.ts') & typeof import('../as/cafleet-members.ts')

const SELF = ['--agent-id <id>', 'who you are: it must be what your token says'] as const
const MEMBER = ['--member-id <id>', 'id or name'] as const
const MESSAGE = ['--task-id <id>', 'the message'] as const
const FULL = ['--full', 'whole texts, whatever CAFLEET_MAX_TEXT_LEN says'] as const

export function addCafleet(as: Command): void {
  const cafleet = as
    .command('cafleet')
    .description('the commands of CAFleet; a session or fleet there is a team here')
    .option('--session-id <team>', 'id or name of the team (default: your own, or the only one)')
    .option('--fleet-id <team>', 'the same')
  for (const name of ['session', 'fleet']) addSessions(cafleet.command(name).description('teams'))
  addAgents(cafleet.command('agent').description('who is in a team'))
  addMessages(cafleet.command('message').description('mail in a team'))
  // They are carried out as ours before this is read: see as/whole-commands.ts.
  for (const [name, ours] of [
    ['server', 'fleet up'],
    ['doctor', 'fleet doctor'],
    ['setup', 'fleet setup'],
  ] as const)
    cafleet.command(name).description(`the same as ${ours}`).allowUnknownOption()
  addMonitoring(cafleet.command('monitor').description('how the agents of the team are'))
  addMembers(cafleet.command('member').description('agents that the fleet starts'))
}

function addSessions(group: Command): void {
  const create = group
    .command('create')
    .description('create a team for the repository you are in')
    .option('--label <name>', 'its name: letters, digits, - and _ (default: that of the folder)')
  runs(create, ({ createSession }) => createSession)
  runs(group.command('list').description('list teams'), ({ listSessions }) => listSessions)
  const show = group.command('show').description('show a team').argument('<id>', 'id or name')
  runs(show, ({ showSession }) => showSession)
  const remove = group
    .command('delete')
    .description('delete a team and dismiss its agents; what they wrote stays')
    .argument('<id>', 'id or name')
  runs(remove, ({ deleteSession }) => deleteSession)
}

function addAgents(group: Command): void {
  const register = group
    .command('register')
    .description('join a team from outside; prints the token to ask with from then on')
    .requiredOption('--name <name>', 'letters, digits, - and _')
    .option('--role <role>', 'its role (default: worker)')
  runs(register, ({ register: verb }) => verb)
  runs(
    group
      .command('list')
      .description('list who is in the team')
      .option(...SELF),
    ({ listAgents }) => listAgents,
  )
  const show = group
    .command('show')
    .description('show one')
    .option(...SELF)
    .requiredOption('--id <id>', 'id or name')
  runs(show, ({ showAgent }) => showAgent)
  const leave = group
    .command('deregister')
    .description('leave the team')
    .requiredOption(...SELF)
  runs(leave, ({ deregister }) => deregister)
}

function addMessages(group: Command): void {
  const send = group
    .command('send')
    .description('write to somebody')
    .requiredOption(...SELF)
    .requiredOption('--to <id>', 'id or name')
    .requiredOption('--text <text>', 'what to say')
  runs(send, ({ sendMessage }) => sendMessage)
  const broadcast = group
    .command('broadcast')
    .description('write to everybody')
    .requiredOption(...SELF)
    .requiredOption('--text <text>', 'what to say')
  runs(broadcast, ({ broadcast: verb }) => verb)
  const poll = group
    .command('poll')
    .description('your messages that were not acknowledged yet')
    .requiredOption(...SELF)
    .option('--all', 'also those that were')
    .option('--since <time>', 'only later ones')
    .option('--page-size <n>', 'how many at most (default: 100)', countFrom)
    .option(...FULL)
  runs(poll, ({ poll: verb }) => verb)
  for (const [verb, summary] of [
    ['ack', 'acknowledge a message to you'],
    ['cancel', 'take a message of yours back from those it was not handed to yet'],
    ['show', 'show a message and what became of it'],
  ] as const) {
    const command = group
      .command(verb)
      .description(summary)
      .requiredOption(...SELF)
      .requiredOption(...MESSAGE)
      .option(...FULL)
    runs(command, all => all[`${verb}Message`])
  }
}

const watching = () => import('../as/cafleet-monitor.ts')

function addMonitoring(group: Command): void {
  const start = group
    .command('start')
    .description('watch the agents of the team')
    .option(...SELF)
  runs(start, async () => (await watching()).startMonitor)
  const status = group
    .command('status')
    .description('show how each agent is')
    .option(...SELF)
  runs(status, async () => (await watching()).monitorStatus)
  const config = group
    .command('config')
    .description('say how long an agent may show no sign of life, and whether it is watched')
    .option(...SELF)
    .option('--member-id <id>', 'only this agent: id or name')
    .option('--interval <seconds>', 'how long without a sign of life; auto: by its own rhythm')
    .option('--on', 'watch')
    .option('--off', 'do not watch')
  runs(config, async () => (await watching()).configureMonitor)
}

function addMembers(group: Command): void {
  const create = group
    .command('create')
    .description('add an agent to the team, and tell it what to do')
    .option(...SELF)
    .requiredOption('--name <name>', 'letters, digits, - and _')
    .requiredOption('--description <text>', 'its standing instructions')
    .option('--coding-agent <agent>', 'such as claude or codex (default: that of the project)')
    .option('--model <model>', 'its model')
    .option('--role <role>', 'its role (default: worker)')
    .option('--tmux', 'in a window of tmux, as there')
    .option('--prompt-file <file>', 'what to do first; - reads stdin')
    .addArgument(new Argument('[prompt...]', 'the same, as words'))
  runs(create, ({ createMember }) => createMember)
  const remove = group
    .command('delete')
    .description('dismiss an agent; one at work is waited for 15 s')
    .option(...SELF)
    .requiredOption(...MEMBER)
    .option('-f, --force', 'at once, also in the middle of its work')
  runs(remove, ({ deleteMember }) => deleteMember)
  const list = group
    .command('list')
    .description('list the agents of the team')
    .option(...SELF)
    .option('--activity', 'with what each does now')
  runs(list, ({ listMembers }) => listMembers)
  addTerminals(group)
}

function addTerminals(group: Command): void {
  const on = (name: string, summary: string): Command =>
    group
      .command(name)
      .description(summary)
      .option(...SELF)
      .requiredOption(...MEMBER)
  const capture = on('capture', 'show what its window shows, or what it printed last')
  runs(capture.option('--lines <n>', 'how many (80)', countFrom), ({ captureMember }) => captureMember)
  const input = on('send-input', 'answer what its window asks')
    .option('--choice <key>', 'a key, such as 1, y or Enter')
    .option('--freetext <text>', 'a line; - reads stdin, @file reads a file')
  runs(input, ({ sendInput }) => sendInput)
  const exec = on('exec', 'run a shell command in its window').argument('<command>', 'the command')
  runs(exec, ({ execInMember }) => execInMember)
  runs(on('ping', 'say whether it is alive'), ({ pingMember }) => pingMember)
  const nudge = on('nudge', 'remind it of its mail').argument('[text]', 'what to say instead')
  runs(nudge, ({ nudgeMember }) => nudgeMember)
}
