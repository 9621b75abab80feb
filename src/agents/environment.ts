/** The named variables that are set. An agent's environment is an allow-list: nothing else reaches it. */
export function pick(
  environment: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) if (environment[name] !== undefined) picked[name] = environment[name]
  return picked
}
