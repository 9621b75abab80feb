import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import type { z } from 'zod'
import type { memberTerminals } from '../../operations/member-terminals.ts'
import { type Cli, does, textFrom } from '../command.ts'
import { EXIT } from '../exit.ts'
import { addsMember } from './team.ts'

type Answer<N extends (typeof memberTerminals)[number]['name']> = z.infer<
  Extract<(typeof memberTerminals)[number], { name: N }>['output']
>

const TEAM = ['<team>', 'name or id of the team'] as const
const MEMBER = ['<member>', 'name of the member'] as const

export function addMember(program: Command): void {
  const member = program
    .command('member')
    .description('add members, watch those that run in tmux, type into them, and end them')
  addsMember(member.command('create').description('the same as fleet team add'))
  const on = (name: string, summary: string) =>
    member
      .command(name)
      .description(summary)
      .argument(...TEAM)
      .argument(...MEMBER)
  const capture = on('capture', 'show what the terminal of a member shows').option('--lines <n>', 'how many (50)')
  does(capture, async (cli, [team_id, who], { lines }) => {
    const input = { team_id, member: who, ...(lines !== undefined && { lines: Number(lines) }) }
    const answer = await cli.ask<Answer<'capture_member'>>('capture_member', input)
    cli.terminal.tell(answer, () => {
      for (const line of answer.lines) cli.terminal.print(cli.terminal.foreign(line))
      cli.terminal.note(`${who} is ${answer.state}. ${answer.text ?? ''}`.trim())
    })
  })
  const input = on('send-input', 'answer what the terminal of a member asks')
    .option('--choice <keys...>', 'keys to press, such as 1, y, Down or Enter')
    .option('--freetext <text>', 'a line to type; - reads stdin, @file reads a file')
  does(input, async (cli, [team_id, who], { choice, freetext }) => {
    const text = freetext === undefined ? undefined : await textFrom(cli, String(freetext))
    const keys = choice as string[] | undefined
    const answer = await cli.ask<Answer<'send_member_input'>>('send_member_input', { team_id, member: who, keys, text })
    cli.terminal.tell(answer, () => cli.terminal.print(`${who} is ${answer.state} now.`))
  })
  const exec = on('exec', 'run a shell command in the terminal of an idle member').argument('<command>', 'the command')
  does(exec, async (cli, [team_id, who, line]) => {
    const wanted = { team_id, member: who, command: line }
    typed(cli, await cli.ask<Answer<'exec_in_member'>>('exec_in_member', wanted))
  })
  does(on('ping', 'say whether the terminal of a member is alive'), async (cli, [team_id, who]) => {
    const answer = await cli.ask<Answer<'ping_member'>>('ping_member', { team_id, member: who })
    cli.terminal.tell(answer, () => {
      cli.terminal.print(`${who} is ${answer.alive ? `alive and ${answer.state}` : 'gone'}.`)
      if (answer.text) cli.terminal.note(answer.text)
    })
    return answer.alive ? EXIT.done : EXIT.failed
  })
  const nudge = on('nudge', 'remind an idle member of its mail').argument('[text]', 'what to say instead')
  does(nudge, async (cli, [team_id, who, text]) => {
    typed(cli, await cli.ask<Answer<'nudge_member'>>('nudge_member', { team_id, member: who, text }))
  })
  does(on('attach', 'look at the terminal of a member, and type there'), async (cli, [team_id, who]) => {
    const { argv } = await cli.ask<Answer<'attach_member'>>('attach_member', { team_id, member: who })
    if (cli.terminal.json || !cli.terminal.interactive)
      return void cli.terminal.tell({ argv }, () => cli.terminal.print(argv.join(' ')))
    return run(argv, cli)
  })
  does(on('open', 'open the terminal of a member again'), async (cli, [team_id, who]) => {
    const answer = await cli.ask<Answer<'open_member'>>('open_member', { team_id, member: who })
    cli.terminal.tell(answer, () => cli.terminal.print(`The terminal of ${who} is being opened.`))
  })
  const remove = on('delete', 'ask the client of a member to end, then dismiss the member')
  remove.option('--force', 'end its whole process tree')
  does(remove, async (cli, [team_id, who], { force }) => {
    const wanted = { team_id, member: who, force: force === true }
    const answer = await cli.ask<Answer<'delete_member'>>('delete_member', wanted)
    cli.terminal.tell(answer, () => {
      if (answer.dismissed) return cli.terminal.print(`${who} is dismissed.`)
      for (const line of answer.lines) cli.terminal.print(cli.terminal.foreign(line))
      cli.terminal.note(`${who} did not end. To end its whole tree: fleet member delete ${team_id} ${who} --force`)
    })
    return answer.dismissed ? EXIT.done : NOT_ENDED
  })
}

/** As CAFleet says it: the member is still there. */
const NOT_ENDED = 2

const typed = ({ terminal }: Cli, answer: { typed: string }): void =>
  terminal.tell(answer, () => terminal.print(`Typed: ${terminal.foreign(answer.typed)}`))

function run([program, ...args]: readonly string[], { terminal }: Cli): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program!, args, { env: terminal.streams.env, stdio: 'inherit' })
    child.once('error', reject).once('exit', code => resolve(code ?? EXIT.failed))
  })
}
