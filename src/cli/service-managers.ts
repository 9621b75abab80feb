import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { which } from '../agents/detect.ts'
import { Unfit } from '../domain/errors.ts'
import { launchdAgent, type Service, systemdUnit } from '../install/service-unit.ts'

/** The program that starts services of this user. */
export interface Manager {
  kind: 'systemd' | 'launchd'
  /** The file that describes the service. */
  file: string
  /** What the file is called to the manager. */
  name: string
  text(service: Service): string
  /** Why it cannot be used now; undefined: it can. */
  whyNot(): Promise<string | undefined>
  /** Starts it now and at every login. */
  start(): Promise<void>
  /** Ends it now, and for every later login. */
  stop(): Promise<void>
  /** Called once its file is gone. */
  forget(): Promise<void>
  isActive(): Promise<boolean>
  /** What a person types to start it themselves. */
  startBy: string
  /** What they have to know about it. */
  advice: string[]
}

type Environment = NodeJS.ProcessEnv
const PATIENCE_MS = 90_000

interface Ran {
  code: number
  said: string
}

/** Never through a shell. */
const run = (program: string, args: readonly string[], env: Environment): Promise<Ran> =>
  new Promise(resolve => {
    execFile(program, args, { env, timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : 1) : 0
      resolve({ code, said: (stderr || stdout || error?.message || '').trim() })
    })
  })

/** The manager of this machine, for the home with this suffix; empty for the usual home. */
export async function managerFor(env: Environment, suffix: string): Promise<Manager> {
  if (process.platform === 'darwin') return launchd(env, suffix)
  const systemctl = process.platform === 'linux' ? await which('systemctl', env) : undefined
  if (systemctl) return systemd(systemctl, env, suffix)
  throw new Unfit('This machine has neither systemd nor launchd, so no service can be made.', {
    try: 'Start the fleet with fleet up --detach, from whatever starts programs here.',
  })
}

function systemd(systemctl: string, env: Environment, suffix: string): Manager {
  const name = `flotilla${suffix && `-${suffix}`}.service`
  const settings = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config')
  const ask = (...args: string[]) => run(systemctl, ['--user', ...args], env)
  const must = async (...args: string[]): Promise<void> => {
    const { code, said } = await ask(...args)
    if (code !== 0)
      throw new Unfit(`systemctl --user ${args.join(' ')} failed: ${said}`, { try: `journalctl --user -u ${name}` })
  }
  return {
    kind: 'systemd',
    file: join(settings, 'systemd', 'user', name),
    name,
    text: systemdUnit,
    async whyNot() {
      const { code, said } = await ask('show-environment')
      return code === 0 ? undefined : `systemd does not run for this user: ${said}`
    },
    async start() {
      await must('daemon-reload')
      await must('enable', name)
      await must('restart', name)
    },
    async stop() {
      await must('disable', '--now', name)
    },
    forget: () => must('daemon-reload'),
    isActive: async () => (await ask('is-active', '--quiet', name)).code === 0,
    startBy: `systemctl --user daemon-reload && systemctl --user enable --now ${name}`,
    advice: [
      `It has your PATH as it is now, and no other variable. For API keys and the like: systemctl --user edit ${name}`,
      'It stops when you log out, unless you allow it to go on: loginctl enable-linger',
    ],
  }
}

/** Written from Apple's documentation. It could not be tried where Flotilla is tested. */
function launchd(env: Environment, suffix: string): Manager {
  const name = `dev.flotilla.fleet${suffix && `.${suffix}`}`
  const file = join(env.HOME || homedir(), 'Library', 'LaunchAgents', `${name}.plist`)
  const domain = `gui/${process.getuid?.() ?? 501}`
  const ask = (...args: string[]) => run('launchctl', args, env)
  return {
    kind: 'launchd',
    file,
    name,
    text: service => launchdAgent(service, name),
    async whyNot() {
      const { code, said } = await ask('print', domain)
      return code === 0 ? undefined : `launchd does not answer for this user: ${said}`
    },
    async start() {
      await ask('bootout', `${domain}/${name}`)
      const { code, said } = await ask('bootstrap', domain, file)
      if (code !== 0) throw new Unfit(`launchctl bootstrap failed: ${said}`)
    },
    async stop() {
      await ask('bootout', `${domain}/${name}`)
    },
    forget: async () => {},
    isActive: async () => (await ask('print', `${domain}/${name}`)).code === 0,
    startBy: `launchctl bootstrap ${domain} ${file}`,
    advice: ['It has your PATH as it is now, and no other variable.'],
  }
}
