/** Commands of CAFleet that are one of ours as a whole. */
const OURS: Readonly<Record<string, readonly string[]>> = { server: ['up'], doctor: ['doctor'], setup: ['setup'] }

/** The command line in our words: its server listens where the environment of CAFleet says. */
export function asOurs(args: readonly string[], env: NodeJS.ProcessEnv): readonly string[] {
  const [as, tool, command = '', ...rest] = args
  const ours = as === 'as' && tool === 'cafleet' ? OURS[command] : undefined
  if (!ours) return args
  if (command !== 'server') return [...ours, ...rest]
  const { CAFLEET_BROKER_HOST: host, CAFLEET_BROKER_PORT: port } = env
  const isGiven = (flag: string): boolean => rest.some(each => each === flag || each.startsWith(`${flag}=`))
  return [
    ...ours,
    ...(host && !isGiven('--host') ? [`--host=${host}`] : []),
    ...(port && !isGiven('--port') ? [`--port=${port}`] : []),
    ...rest,
  ]
}
