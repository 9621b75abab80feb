const BEFORE_A_COMMAND = /^--(json|home=.*|url=.*)$/
const WITH_A_VALUE = ['--home', '--url']

/** Everything after `fleet bd` is for bd, including options. */
export function verbatim(args: readonly string[]): readonly string[] {
  let at = 0
  while (at < args.length && (BEFORE_A_COMMAND.test(args[at]!) || WITH_A_VALUE.includes(args[at]!)))
    at += WITH_A_VALUE.includes(args[at]!) ? 2 : 1
  return args[at] === 'bd' ? [...args.slice(0, at + 1), '--', ...args.slice(at + 1)] : args
}
