import { which } from '../agents/detect.ts'
import { agentsFor } from '../fleet/agents.ts'
import type { Home } from '../platform/home.ts'
import { VERSION } from '../platform/version.ts'
import type { Cli } from './command.ts'

/** What a person needs to know once the fleet is up. */
export async function welcome(
  { terminal, where }: Cli,
  home: Home,
  at: { url: string; signIn: string },
): Promise<void> {
  if (terminal.json) return terminal.data({ version: VERSION, home: home.path, url: at.url, sign_in_url: at.signIn })
  const found = await Promise.all(
    agentsFor(home.path).agents.all.map(async agent => ({ agent, is: await agent.detect(where.env) })),
  )
  const installed = found.filter(({ is }) => is.installed)
  const missing = found.filter(({ is }) => !is.installed)
  terminal.print(`${terminal.paint('bold', `Flotilla ${VERSION} is up`)} at ${terminal.paint('cyan', at.url)}`)
  terminal.facts([
    ['Sign in', at.signIn],
    ['Home', home.path],
    [
      'Agents',
      installed
        .map(({ agent, is }) =>
          [agent.name, is.version, is.signedIn === false && '(not signed in)'].filter(Boolean).join(' '),
        )
        .join(', '),
    ],
    ['Missing', missing.map(({ agent, is }) => [agent.name, is.advice].filter(Boolean).join(': ')).join('\n')],
    [
      'Command',
      (await which('fleet', where.env)) ? '' : `alias fleet='${process.argv[1]}'    (it is not on your PATH yet)`,
    ],
    [
      'Next',
      'fleet open          open the dashboard in your browser\nfleet run "<task>"  start an agent in one of your repositories\nfleet demo          make a sample project, without a coding agent',
    ],
    ['Stop', 'fleet down          agents continue'],
  ])
}
