import { Argument, type Command } from 'commander'
import { does } from '../command.ts'

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

interface CommandPath {
  /** The words that lead here, such as `mission create`; an alias is a path of its own. */
  path: string
  words: string[]
}

export function completionScript(program: Command, shell: Shell): string {
  const paths = pathsBelow(program, [])
  const choices = choicesOf(program)
  return { bash, zsh, fish }[shell](paths, choices, optionsOf(program))
}

function pathsBelow(command: Command, path: string[]): CommandPath[] {
  const own = {
    path: path.join(' '),
    words: [
      ...command.commands.map(each => each.name()),
      ...(command.parent ? optionsOf(command) : []),
      ...argumentChoices(command),
    ],
  }
  return [
    own,
    ...command.commands.flatMap(each =>
      [each.name(), ...each.aliases()].flatMap(name => pathsBelow(each, [...path, name])),
    ),
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

function bash(paths: CommandPath[], choices: Map<string, string[]>, global: string[]): string {
  return `# Completion of fleet for bash.
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
    *)
      case "$path" in
${paths.map(at => `        '${at.path}') words='${[...at.words, ...global].join(' ')}' ;;`).join('\n')}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _fleet fleet
`
}

function zsh(paths: CommandPath[], choices: Map<string, string[]>, global: string[]): string {
  return `#compdef fleet
# Completion of fleet for zsh.
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
  esac
  case "$joined" in
${paths.map(at => `    '${at.path}') compadd -- ${[...at.words, ...global].join(' ')} ;;`).join('\n')}
  esac
  _files
}
compdef _fleet fleet
`
}

function fish(paths: CommandPath[], choices: Map<string, string[]>, global: string[]): string {
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
${paths.map(at => `complete -c fleet -n "__fleet_at '${at.path}'" -a '${[...at.words, ...global].join(' ')}'`).join('\n')}
`
}
