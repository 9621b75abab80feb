import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../kit/fleet.ts'
import type { MailView, TeamView } from '../../kit/team.ts'
import { tmuxIn } from '../../kit/tmux.ts'
import type { Scenario } from './scenario.ts'

/** The script in the window writes down every line that it is told. */
export const typed: Scenario = {
  name: 'mail typed into a terminal, which is then closed',
  async play(world) {
    const { fleet } = world
    const journal = join(fleet.root, 'journal')
    const project = await world.project()
    const team = await world.ask<TeamView>('POST', '/api/teams', { project_id: project.id, name: 'crew' })
    const charter = `printf '> '; while read -r line; do echo "$line" >>'${journal}'; printf 'so: %s\\n> ' "$line"; [ "$line" = exit ] && exit; done`
    await world.ask('POST', `/api/teams/${team.id}/members`, {
      ...{ handle: 'ada', charter, agent: 'shell', placement: 'tmux' },
    })
    const send = (body: string) =>
      world.ask<MailView>('POST', '/api/mail', { team_id: team.id, to: 'ada', body, wake: true })
    const state = async ({ id }: MailView) =>
      (await fleet.call<MailView>('get_mail', { mail_id: id })).deliveries[0]!.state
    const messages = [await send('one'), await send('two')]
    for (const message of messages) await eventually('heard', async () => (await state(message)) === 'heard')
    await world.ask('DELETE', `/api/teams/${team.id}/members/ada?force=true`)
    await eventually('its window is gone', () => !isOpen(fleet.fleet.home.path))
    const told = readFileSync(journal, 'utf8').split('\n')
    for (const { id } of messages) {
      const times = told.filter(line => line.includes(id)).length
      if (times !== 1) throw new Error(`${id} was typed ${times} times: ${told.join(' | ')}`)
    }
    return []
  },
}

function isOpen(home: string): boolean {
  if (!existsSync(`${home}/tmux/socket`)) return false
  try {
    return tmuxIn!(home).run('list-panes', '-a') !== ''
  } catch {
    return false
  }
}
