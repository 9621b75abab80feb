import type { Command } from 'commander'

/** Examples in the help of a command. A test parses each. */
export const EXAMPLES: Readonly<Record<string, readonly (readonly [line: string, what: string])[]>> = {
  fleet: [
    ['fleet run "Write a test for the parser"', 'start your coding agent here'],
    ['fleet inbox', 'see what waits for you'],
    ['fleet land 4f2a', 'look at finished work and land it'],
    ['fleet open', 'do all of this in the browser'],
  ],
  'fleet run': [
    ['fleet run "Fix the flaky test in test/login"', 'use the agent of the project'],
    ['fleet run --agent codex --landing review @task.md', 'read the task from a file'],
    ["fleet run --agent shell 'npm update && npm test'", 'run a script'],
    ['fleet run --detach "Update the docs"', 'return at once'],
  ],
  'fleet list': [
    ['fleet list --status review', 'finished work that waits for you'],
    ['fleet list --text parser --json', 'as JSON'],
  ],
  'fleet land': [
    ['fleet land 4f2a', 'show it, ask, land it'],
    ['fleet land 4f2a --commit 3b1c0d9', 'in a script: what you reviewed'],
    ['fleet land 4f2a --yes', 'in a script: whatever is there now'],
  ],
  'fleet team': [
    ['fleet team create crew', 'a team for the repository you are in'],
    ['fleet team add crew ada --role team-lead --charter @lead.md', 'an agent that stays'],
    ['fleet team show crew', 'what each member does now'],
  ],
  'fleet mail': [
    ['fleet mail send ada "Plan the release" --wait', 'wake ada and wait for its answer'],
    ['fleet mail send @all "The API is frozen"', 'tell everybody at their next turn'],
    ['fleet mail read', 'read what they wrote to you'],
  ],
  'fleet retry': [['fleet retry 4f2a -m "The API moved to v2" --follow', 'start over with a hint']],
  'fleet review': [
    ['fleet review', 'list what waits, riskiest first'],
    ['fleet review send-back 4f2a -m "Add a test"', 'request changes'],
  ],
  'fleet logs': [
    ['fleet logs -f 4f2a', 'watch an agent at work'],
    ['fleet logs 4f2a --errors', 'only what failed'],
  ],
  'fleet answer': [
    ['fleet answer 9k3d "Use the second one"', 'answer a question'],
    ['fleet answer 9k3d allow --always', 'allow this command in this project'],
  ],
  'fleet mission create': [
    ['fleet mission create "Write the docs" --after 4f2a --dispatch', 'start it when 4f2a is done'],
  ],
  'fleet plan': [['fleet plan "Add dark mode to the settings page"', 'let an agent propose missions']],
  'fleet project set': [
    ['fleet project set . --landing auto --check "npm test"', 'land what passes the tests'],
    ['fleet project set . --agent claude', 'choose the coding agent'],
  ],
  'fleet service install': [
    ['fleet service install', 'start the fleet now and at every login'],
    ['fleet service install --print', 'look first'],
  ],
  'fleet metrics': [
    ['fleet metrics', 'counts, queues, durations'],
    ['fleet metrics --token', 'a token for Prometheus'],
  ],
  'fleet schedule': [['fleet schedule set 4f2a "0 6 * * 1-5"', 'run it on weekdays at 6:00']],
}

export const HELP_END = `Wherever a command takes an id, its first letters are enough.
With --json, an error is one line of JSON, the last one on standard error.`

const WIDTH = 80

/** What follows the help of a command. */
export function examplesOf(command: Command): string {
  const examples = EXAMPLES[nameOf(command)]
  if (!examples) return ''
  const width = Math.max(...examples.map(([line]) => line.length))
  const isNarrow = examples.every(([, what]) => width + 4 + what.length <= WIDTH)
  const lines = examples.map(([line, what]) =>
    isNarrow ? `  ${line.padEnd(width)}  ${what}` : `  ${line}\n      ${what}`,
  )
  return `\nExamples:\n${lines.join('\n')}`
}

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()
