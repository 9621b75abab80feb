/** Variables that people set for servers of other tools, and what to use here instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  JWT_SECRET: 'tokens are signed with keys of the home, published at /.well-known/jwks.json',
  CORS_ORIGINS: 'pages of other origins get no answer; --allow-host names other hosts of this server',
  MAX_WORKERS: 'FLEET_MAX_CONCURRENT says how many agents run at once',
  CAFLEET_DATABASE_URL: 'records are in the home; FLEET_STORE says where else',
  CAFLEET_BROKER_HOST: 'use --host, or fleet as cafleet server',
  CAFLEET_BROKER_PORT: 'use --port, or fleet as cafleet server',
}

/** A sentence for each of them that is set. What is given by an option was taken. */
export const notTaken = (env: NodeJS.ProcessEnv, given: { host?: unknown; port?: unknown } = {}): string[] =>
  Object.entries(INSTEAD).flatMap(([name, why]) => {
    const isTaken =
      (name === 'CAFLEET_BROKER_HOST' && given.host !== undefined) ||
      (name === 'CAFLEET_BROKER_PORT' && given.port !== undefined)
    return env[name] && !isTaken ? [`${name} is not used: ${why}.`] : []
  })
