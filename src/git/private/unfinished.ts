import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readPlainFile } from '../plain-files.ts'
import { replaceFile } from './writing.ts'

/**
 * Where git keeps operations under way and their options. A strategy is the name of a program, which may be in the
 * worktree.
 */
const OPTIONS = {
  'rebase-merge': ['strategy', 'strategy_opts', 'gpg_sign_opt'],
  'rebase-apply': ['strategy', 'strategy_opts', 'gpg_sign_opt'],
  sequencer: ['opts'],
}
/** All but `exec`, by name and by letter. */
const STEP =
  /^[ \t]*(pick|p|revert|edit|e|reword|r|fixup|f|squash|s|label|l|reset|t|merge|m|update-ref|u|break|b|noop|drop|d)(?=[ \t\r]|$)/

/**
 * Removes what would run programs when a person continues a rebase, cherry-pick or revert that an agent left
 * unfinished.
 */
export function sealUnfinished(gitDir: string): void {
  for (const [name, options] of Object.entries(OPTIONS)) {
    const folder = join(gitDir, name)
    // A link may lead to what a person has under way.
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
      rmSync(folder, { force: true })
      continue
    }
    for (const option of options) rmSync(join(folder, option), { recursive: true, force: true })
    const file = join(folder, 'git-rebase-todo')
    const todo = readPlainFile(file, { refuseLinks: true })?.toString('latin1')
    if (todo === undefined) rmSync(file, { recursive: true, force: true })
    else replaceFile(file, Buffer.from(harmlessSteps(todo), 'latin1'))
  }
}

const harmlessSteps = (todo: string): string =>
  todo
    .split('\n')
    .filter(line => STEP.test(line))
    .map(line => `${line}\n`)
    .join('')
