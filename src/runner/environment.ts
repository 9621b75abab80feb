/** What of the server's own environment reaches an agent without anyone naming it: enough to run programs, no secret. */
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

/** An allow-list, what the project names, and what we say ourselves; later ones win. */
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
