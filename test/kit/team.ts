import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { NODE, ROOT } from './fleet.ts'
import type { Scene } from './scene.ts'

const WORKER = join(ROOT, 'test/kit/mail-worker.mjs')

export interface MailView {
  id: string
  thread: string
  subject: string
  body: string
  from: { handle: string; role: string }
  deliveries: { to: string; state: string; heard_by: string | null; held: string | null; reason: string | null }[]
}

export interface MemberView {
  id: string
  handle: string
  state: string
  waits_for: string | null
  session_id: string | null
  mission_id: string
  unread: number
  health: { state: string; restarts: number; done: { act: string; text: string }[] }
}

export interface TeamView {
  id: string
  members: MemberView[]
}

export interface SentView extends MailView {
  wakes: number
  likely_cost_usd: number | null
}

/** A team of scripts that answer by rule, and write down what they were told. */
export async function aTeam({ fleet, project }: Scene, handles: readonly string[], settings: object = {}) {
  const team = await fleet.call<TeamView>('create_team', { project_id: project.id, name: 'crew', ...settings })
  const journal = join(fleet.root, 'journal')
  const script = `'${NODE}' '${WORKER}' '${journal}' && echo done`
  const add = (handle: string, more: object = {}) =>
    fleet.call<MemberView>('add_member', { team_id: team.id, handle, agent: 'shell', charter: script, ...more })
  for (const handle of handles) await add(handle)
  const show = () => fleet.call<TeamView>('get_team', { team_id: team.id })
  return {
    team,
    add,
    script,
    /** A script that does not stop talking to another member. */
    chatter: (other: string) => `'${NODE}' '${WORKER}' '${journal}' ${other} && echo done`,
    show,
    told: () =>
      (existsSync(journal) ? readFileSync(journal, 'utf8') : '')
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line) as { id: string; thread: string; from: string; body: string; said: string }),
    send: (to: string | string[], body: string, more: object = {}) =>
      fleet.call<SentView>('send_mail', { team_id: team.id, to, body, ...more }),
    mail: (id: string) => fleet.call<MailView>('get_mail', { mail_id: id }),
    member: async (handle: string) => (await show()).members.find(each => each.handle === handle)!,
  }
}
