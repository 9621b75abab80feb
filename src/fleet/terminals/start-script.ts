interface Start {
  argv: readonly string[]
  env: Readonly<Record<string, string>>
  /** The start that makes this file first is the one that counts. */
  claim: string
}

/**
 * The program of a window as a script: what is in the arguments of tmux could be read by others, and a token is among
 * its variables. The client does not learn that it is in tmux: it would offer to open windows of its own.
 */
export const startScript = ({ argv, env, claim }: Start): string =>
  [
    '#!/bin/sh',
    `(set -C; : > ${quoted(claim)}) 2>/dev/null || exit 75`,
    'unset TMUX TMUX_PANE',
    ...Object.entries(env)
      .filter(([name]) => /^[A-Za-z_]\w*$/.test(name))
      .map(([name, value]) => `export ${name}=${quoted(value)}`),
    'export TERM=screen-256color',
    `exec ${argv.map(quoted).join(' ')}`,
    '',
  ].join('\n')

const quoted = (word: string): string => `'${word.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`
