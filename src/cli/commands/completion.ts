import { Argument, type Command } from 'commander'
import { shortId } from '../../domain/ids.ts'
import type { MissionView } from '../../operations/views.ts'
import { safeLine } from '../../platform/safe-text.ts'
import { type Cli, does } from '../command.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

const HOW = `
bash:  fleet completion bash > ~/.local/share/bash-completion/completions/fleet
zsh:   fleet completion zsh > "\${fpath[1]}/_fleet"
fish:  fleet completion fish > ~/.config/fish/completions/fleet.fish`

export function addCompletion(program: Command): void {
  const completion = program
    .command('completion')
    .description('print a script that completes fleet commands in your shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText('after', HOW)
  does(completion, async (cli, [shell]) => void cli.terminal.write(completionScript(program, shell as Shell)))
}

/** What only the fleet knows: the scripts ask for it with `fleet complete`. */
const KINDS = ['missions', 'projects', 'agents', 'questions'] as const
type Kind = (typeof KINDS)[number]

/** By the name of an argument, of a command or of an option. */
const KIND_OF: Readonly<Record<string, Kind>> = {
  mission: 'missions',
  missions: 'missions',
  first: 'missions',
  second: 'missions',
  project: 'projects',
  agent: 'agents',
  question: 'questions',
}

/** Prints a value and what it is on each line. The scripts call it. */
export function addComplete(program: Command): void {
  const complete = program
    .command('complete', { hidden: true })
    .description('print what can be completed')
    .addArgument(new Argument('<kind>', 'what of').choices(KINDS))
  does(complete, async (cli, [kind]) => {
    // An agent with two engines is listed twice. The first of a name counts.
    const values = new Map((await VALUES[kind as Kind](cli)).toReversed())
    // Shells expand the words that they are given, so that only plain ones may get there.
    for (const [value, what] of [...values].toReversed())
      if (/^[\w.-]+$/.test(value)) cli.terminal.print(what ? `${value}\t${safeLine(what)}` : value)
  })
}

const VALUES: Readonly<Record<Kind, (cli: Cli) => Promise<[string, string][]>>> = {
  missions: async cli =>
    (await cli.ask<{ missions: MissionView[] }>('list_missions', { limit: 100 })).missions.map(({ id, title }) => [
      shortId(id),
      title,
    ]),
  projects: async cli =>
    (await cli.ask<{ projects: { name: string; path: string }[] }>('list_projects', { limit: 100 })).projects.map(
      ({ name, path }) => [name, path],
    ),
  agents: async cli =>
    (await cli.ask<{ agents: { name: string; title: string }[] }>('list_agents', {})).agents.map(({ name, title }) => [
      name,
      title,
    ]),
  questions: async cli =>
    (await cli.ask<{ questions: { id: string; summary: string }[] }>('list_inbox', {})).questions.map(
      ({ id, summary }) => [shortId(id), summary],
    ),
}

interface CommandPath {
  /** The words that lead here, such as `mission create`; an alias is a path of its own. */
  path: string
  words: string[]
  /** What its arguments name. */
  kinds: Kind[]
}

interface Tree {
  paths: CommandPath[]
  /** The values of options, fixed ones and those that only the fleet knows. */
  choices: Map<string, string[]>
  kinds: Map<string, Kind>
  global: string[]
}

export function completionScript(program: Command, shell: Shell): string {
  const paths = pathsBelow(program, [])
  const tree = { paths, choices: choicesOf(program), kinds: kindsOf(program), global: optionsOf(program) }
  return { bash, zsh, fish }[shell](tree)
}

function pathsBelow(command: Command, path: string[]): CommandPath[] {
  const shown = command.commands.filter(each => each.name() !== 'complete')
  const own = {
    path: path.join(' '),
    words: [
      ...shown.map(each => each.name()),
      ...(command.parent ? optionsOf(command) : []),
      ...argumentChoices(command),
    ],
    kinds: [...new Set(command.registeredArguments.flatMap(argument => KIND_OF[argument.name()] ?? []))],
  }
  return [
    own,
    ...shown.flatMap(each => [each.name(), ...each.aliases()].flatMap(name => pathsBelow(each, [...path, name]))),
  ]
}

const optionsOf = (command: Command): string[] => [
  ...new Set([...command.options.filter(option => !option.hidden).flatMap(option => option.long ?? []), '--help']),
]
const argumentChoices = (command: Command): string[] =>
  command.registeredArguments.flatMap(argument => argument.argChoices ?? [])

/** Options with fixed values mean the same wherever they occur. */
function choicesOf(command: Command): Map<string, string[]> {
  const own = command.options.flatMap(option =>
    option.long && option.argChoices ? [[option.long, option.argChoices] as [string, string[]]] : [],
  )
  return new Map([...own, ...command.commands.flatMap(each => [...choicesOf(each)])])
}

/** Options such as `--project <project>`. */
function kindsOf(command: Command): Map<string, Kind> {
  const own = command.options.flatMap(({ long, flags }) => {
    const kind = KIND_OF[/<([a-z]+)>/.exec(flags)?.[1] ?? '']
    return long && kind ? [[long, kind] as [string, Kind]] : []
  })
  return new Map([...own, ...command.commands.flatMap(each => [...kindsOf(each)])])
}

function bash({ paths, choices, kinds, global }: Tree): string {
  return `# Completion of fleet for bash.
_fleet_of() { fleet complete "$1" 2>/dev/null | cut -f1 | tr '\\n' ' '; }
_fleet() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
${paths
  .filter(at => at.path)
  .map(at => `      '${at.path}') path='${at.path}' ;;`)
  .join('\n')}
    esac
  done
  case "$before" in
${[...choices].map(([option, values]) => `    ${option}) words='${values.join(' ')}' ;;`).join('\n')}
${[...kinds].map(([option, kind]) => `    ${option}) words="$(_fleet_of ${kind})" ;;`).join('\n')}
    *)
      case "$path" in
${paths.map(at => `        '${at.path}') words='${[...at.words, ...global].join(' ')}' ;;`).join('\n')}
      esac
      case "$path:$current" in
        *:-*) ;;
${paths
  .filter(at => at.kinds.length)
  .map(at => `        '${at.path}':*) words="$words ${at.kinds.map(kind => `$(_fleet_of ${kind})`).join(' ')}" ;;`)
  .join('\n')}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _fleet fleet
`
}

function zsh({ paths, choices, kinds, global }: Tree): string {
  return `#compdef fleet
# Completion of fleet for zsh.
_fleet_of() {
  local -a lines
  lines=("\${(@f)$(fleet complete $1 2>/dev/null)}")
  (( \${#lines} )) && compadd -d lines -- "\${(@)lines%%$'\\t'*}"
}
_fleet() {
  local joined="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${joined:+$joined }$word" in
${paths
  .filter(at => at.path)
  .map(at => `      '${at.path}') joined='${at.path}' ;;`)
  .join('\n')}
    esac
  done
  case "\${words[CURRENT-1]}" in
${[...choices].map(([option, values]) => `    ${option}) compadd -- ${values.join(' ')}; return ;;`).join('\n')}
${[...kinds].map(([option, kind]) => `    ${option}) _fleet_of ${kind}; return ;;`).join('\n')}
  esac
  case "$joined" in
${paths
  .filter(at => at.kinds.length)
  .map(at => `    '${at.path}') ${at.kinds.map(kind => `_fleet_of ${kind}`).join('; ')} ;;`)
  .join('\n')}
  esac
  case "$joined" in
${paths.map(at => `    '${at.path}') compadd -- ${[...at.words, ...global].join(' ')} ;;`).join('\n')}
  esac
  _files
}
compdef _fleet fleet
`
}

function fish({ paths, choices, kinds, global }: Tree): string {
  return `# Completion of fleet for fish.
function __fleet_at
  set -l joined ''
  for word in (commandline -opc)[2..-1]
    switch (string trim "$joined $word")
${paths
  .filter(at => at.path)
  .map(at => `      case '${at.path}'\n        set joined '${at.path}'`)
  .join('\n')}
    end
  end
  test "$joined" = "$argv[1]"
end
${[...choices].map(([option, values]) => `complete -c fleet -l ${option.slice(2)} -x -a '${values.join(' ')}'`).join('\n')}
${[...kinds].map(([option, kind]) => `complete -c fleet -l ${option.slice(2)} -x -a '(fleet complete ${kind} 2>/dev/null)'`).join('\n')}
${paths.map(at => `complete -c fleet -n "__fleet_at '${at.path}'" -a '${[...at.words, ...global].join(' ')}'`).join('\n')}
${paths
  .flatMap(at =>
    at.kinds.map(kind => `complete -c fleet -n "__fleet_at '${at.path}'" -a '(fleet complete ${kind} 2>/dev/null)'`),
  )
  .join('\n')}
`
}
