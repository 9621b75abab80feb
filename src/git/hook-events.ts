/** The hooks that git runs for people who work in a repository. */
const EVENTS = [
  'applypatch-msg',
  'pre-applypatch',
  'post-applypatch',
  'pre-commit',
  'pre-merge-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'pre-rebase',
  'post-checkout',
  'post-merge',
  'pre-push',
  'post-rewrite',
  'pre-auto-gc',
  'post-index-change',
  'reference-transaction',
]

/** Since 2.54 git also runs hooks that its configuration names, wherever `core.hooksPath` leads. */
export const NO_CONFIGURED_HOOKS = EVENTS.map(event => [`hook.${event}.enabled`, 'false'] as const)
