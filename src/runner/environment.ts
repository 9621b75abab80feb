/** The variables of the server that reach every agent: enough to run programs, no secret. */
const ALWAYS = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TERM',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
]

type Environment = Readonly<Record<string, string | undefined>>

/** The allow-list, the variables that the project names, and our own. Later ones win. */
export function agentEnvironment(
  server: Environment,
  named: readonly string[],
  ...ours: Environment[]
): Record<string, string> {
  const locale = Object.keys(server).filter(name => name.startsWith('LC_'))
  const allowed = [...ALWAYS, ...locale, ...named].map(name => [name, server[name]])
  const all = [...allowed, ...ours.flatMap(env => Object.entries(env))]
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}
