import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { z } from 'zod'
import { InvalidInput } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import { type Grant, ROLES } from '../../domain/records/principal.ts'
import { wantedRole } from '../../domain/rules/groups.ts'
import type { people } from '../../operations/people.ts'
import { type Cli, does } from '../command.ts'
import { namedServer } from '../server.ts'
import { ago, untilInWords } from '../show.ts'

type Answer<N extends (typeof people)[number]['name']> = z.infer<
  Extract<(typeof people)[number], { name: N }>['output']
>
type Person = Answer<'list_people'>['people'][number]

const ROLE_OPTION = [
  '--role <role...>',
  `${ROLES.join(', ')}; <role>@<project> for one project, or <role>@<project>:<team> for one team of it`,
] as const
const WHO = ['<name>', 'the name, id or first letters'] as const

export function addPeople(program: Command): void {
  does(program.command('whoami').description('show who you are to the fleet, and your roles'), whoAmI)

  const login = program
    .command('login')
    .description('sign this terminal in to a fleet on another machine; you allow it in your browser')
    .argument('<url>', 'the address of the fleet, such as https://fleet.example.com')
    .option('--name <name>', 'what the terminal is called there (default: user@machine)')
    .option('--insecure', 'also if the connection is not encrypted')
  does(login, async (cli, [url], { name, insecure }) =>
    (await import('../login.ts')).logIn(cli, {
      url: url!,
      name: name as string | undefined,
      insecure: insecure === true,
    }),
  )
  const logout = program
    .command('logout')
    .description('sign this terminal out: end its token at the server, and forget it here')
    .argument('[url]', 'the address of the fleet (default: the one that commands ask)')
  does(logout, async (cli, [url]) => (await import('../login.ts')).logOut(cli, url))

  const user = program.command('user').description('manage the people and services that use this fleet with you')
  const invite = user
    .command('invite')
    .description('let a person in and print a link that signs in their browser; it works once, for seven days')
    .argument('<name>', 'a name; if the person is there already, only a new link is made')
    .option(...ROLE_OPTION)
  does(invite, async (cli, [name], options) => invitePerson(cli, name!, options.role as string[] | undefined))
  const service = user
    .command('add-service')
    .description('add an account for scripts, which uses tokens')
    .argument('<name>', 'a name')
    .requiredOption(...ROLE_OPTION)
  does(service, async (cli, [name], options) => {
    const input = { name, grants: grantsIn(options.role as string[]) }
    const answer = await cli.ask<Answer<'add_service'>>('add_service', input)
    cli.terminal.tell(answer, () => {
      cli.terminal.print(`Added the service ${answer.service.name}.`)
      cli.terminal.note(`Make a token for it: fleet token make ${answer.service.name} --name ci`)
    })
  })
  const list = user
    .command('list')
    .description('list people and services')
    .option('--ended', 'also those without access')
  does(list, async (cli, _, options) => listPeople(cli, options.ended === true))
  const out = user
    .command('sign-out')
    .description('sign a person or service out everywhere: browsers, tokens and open streams')
    .argument(...WHO)
  does(out, async (cli, [who]) => {
    const answer = await cli.ask<Person>('sign_out_person', { principal_id: who })
    cli.terminal.tell(answer, () => cli.terminal.print(`${answer.name} is signed out everywhere.`))
  })
  const password = user
    .command('password')
    .description('set a password, read from standard input; it signs in further browsers')
    .argument('[name]', 'the name, id or first letters (default: you)')
  does(password, async (cli, [who]) => {
    const given = readFileSync(0, 'utf8').split('\n')
    const input = {
      principal_id: who,
      password: given[0]!.trim(),
      ...(given[1]?.trim() && { current: given[1].trim() }),
    }
    const answer = await cli.ask<Answer<'set_password'>>('set_password', input)
    cli.terminal.tell(answer, () => cli.terminal.print(`${answer.name} can sign in with this password.`))
  })
  const remove = user
    .command('remove')
    .description('end the access of a person or service now; what they did keeps their name')
    .argument(...WHO)
  does(remove, async (cli, [who]) => {
    const answer = await cli.ask<Person>('remove_person', { principal_id: who })
    cli.terminal.tell(answer, () => cli.terminal.print(`${answer.name} has no access any more.`))
  })

  const role = program.command('role').description('see roles, and give them to people and services')
  does(role.command('list').description('list the roles and what each may do'), listRoles)
  const set = role
    .command('set')
    .description('replace the roles of a person or service')
    .argument(...WHO)
    .argument(
      '<roles...>',
      `${ROLES.join(', ')}; <role>@<project> for one project, or <role>@<project>:<team> for one team of it`,
    )
  does(set, async (cli, [who, ...roles]) => {
    const input = { principal_id: who, grants: grantsIn(roles) }
    const answer = await cli.ask<Person>('set_roles', input)
    const words = await rolesInWords(cli, answer.grants)
    cli.terminal.tell(answer, () => cli.terminal.print(`${answer.name}: ${words}`))
  })
  addTokens(program)
}

function addTokens(program: Command): void {
  const token = program.command('token').description('manage tokens for scripts and other machines')
  const make = token
    .command('make')
    .description('make a token and print it; it is shown once')
    .argument('[who]', 'a person or service (default: you)')
    .requiredOption('--name <name>', 'what it is for')
    .option('--days <days>', 'how long it lasts (default: until it is revoked)')
    .option('--role <role...>', 'less than all roles of its owner, such as monitor or monitor@<project>')
  does(make, async (cli, [who], options) => {
    const answer = await cli.ask<Answer<'make_token'>>('make_token', {
      principal_id: who,
      name: options.name,
      grants: options.role ? grantsIn(options.role as string[]) : null,
      expires_at: options.days ? daysFromNow(String(options.days)) : null,
    })
    cli.terminal.tell(answer, () => {
      cli.terminal.print(answer.token)
      cli.terminal.note('It is shown only now. Use it as FLEET_TOKEN, with the address of this server as FLEET_URL.')
    })
  })
  const list = token.command('list').description('list tokens').argument('[who]', 'a person or service (default: you)')
  does(list, async (cli, [who]) => {
    const { terminal } = cli
    const answer = await cli.ask<Answer<'list_tokens'>>('list_tokens', { principal_id: who })
    if (terminal.json) return void terminal.data(answer)
    if (!answer.tokens.length)
      return void terminal.note(
        who ? 'There are no tokens.' : 'You have no tokens. Others have: fleet token list <who>',
      )
    terminal.table(
      [
        { title: 'TOKEN', value: each => shortId(each.id) },
        { title: 'NAME', value: each => terminal.foreign(each.name), flexible: true },
        { title: 'USED', value: each => (each.last_used_at ? ago(each.last_used_at) : 'never'), right: true },
        { title: 'UNTIL', value: each => each.expires_at?.slice(0, 10) ?? '' },
        { title: 'STATE', value: each => (each.valid ? 'valid' : each.revoked_at ? 'revoked' : 'expired') },
      ],
      answer.tokens,
    )
  })
  const revoke = token.command('revoke').description('end a token now').argument('<token>', 'id or first letters')
  does(revoke, async (cli, [id]) => {
    const answer = await cli.ask<Answer<'revoke_token'>>('revoke_token', { token_id: id })
    cli.terminal.tell(answer, () => cli.terminal.print(`The token ${answer.name} is revoked.`))
  })
  addRotation(token)
}

function addRotation(token: Command): void {
  const rotate = token
    .command('rotate-keys')
    .description('sign JWTs with a new key; those that are in use stay valid until they end')
  does(rotate, async cli => {
    const answer = await cli.ask<Answer<'rotate_signing_keys'>>('rotate_signing_keys', {})
    cli.terminal.tell(answer, () => cli.terminal.print(`The key ${answer.kid} signs now. Nobody was signed out.`))
  })
}

async function invitePerson(cli: Cli, name: string, roles: string[] | undefined): Promise<undefined> {
  const known = (await cli.ask<Answer<'list_people'>>('list_people', {})).people.find(
    each => each.kind === 'person' && each.name.toLowerCase() === name.toLowerCase(),
  )
  if (!known && !roles) throw new InvalidInput('role', 'is missing', { try: `fleet user invite ${name} --role worker` })
  if (known && roles)
    throw new InvalidInput('role', `is not changed by another link: ${known.name} is there already`, {
      try: `fleet role set ${known.name} ${roles.join(' ')}`,
    })
  const answer = known
    ? await cli.ask<Answer<'invite_again'>>('invite_again', { principal_id: known.id })
    : await cli.ask<Answer<'invite_person'>>('invite_person', { name, grants: grantsIn(roles ?? []) })
  cli.terminal.tell(answer, () => {
    if (!answer.invitation)
      return cli.terminal.note(`${name} was added. Start the server for a link: fleet up --detach, then this again.`)
    cli.terminal.print(answer.invitation.url)
    cli.terminal.note(
      `Send this link to ${answer.person.name}. It works once, until ${untilInWords(answer.invitation.expires_at)}.`,
    )
    if (/^https?:\/\/(127\.|localhost|\[::1\])/.test(answer.invitation.url))
      cli.terminal.note('It leads to this machine only. For other machines, start the server with --host and TLS.')
  })
  return undefined
}

async function whoAmI(cli: Cli): Promise<undefined> {
  const answer = await cli.ask<Answer<'who_am_i'>>('who_am_i', {})
  const words = answer.kind === 'owner' ? 'may do everything' : await rolesInWords(cli, answer.grants)
  const at = namedServer(cli.where)
  cli.terminal.tell(answer, () => {
    cli.terminal.print(`${cli.terminal.foreign(answer.name)}: ${words}`)
    if (at) cli.terminal.note(`at ${at}`)
  })
  return undefined
}

async function listPeople(cli: Cli, ended: boolean): Promise<undefined> {
  const { terminal } = cli
  const answer = await cli.ask<Answer<'list_people'>>('list_people', { ended })
  if (terminal.json) return void terminal.data(answer)
  if (!answer.people.length)
    return void terminal.note('Nobody but you. Invite somebody: fleet user invite <name> --role worker')
  const roles = new Map(
    await Promise.all(
      answer.people.map(
        async each => [each.id, each.ended_at ? 'no access' : await rolesInWords(cli, each.grants)] as const,
      ),
    ),
  )
  terminal.table(
    [
      { title: 'ID', value: each => shortId(each.id) },
      { title: 'NAME', value: each => terminal.foreign(each.name), flexible: true },
      { title: 'KIND', value: each => each.kind },
      { title: 'ROLES', value: each => terminal.foreign(roles.get(each.id)!), flexible: true },
      { title: 'SINCE', value: each => ago(each.created_at), right: true },
    ],
    answer.people,
  )
}

async function listRoles(cli: Cli): Promise<undefined> {
  const { terminal } = cli
  const answer = await cli.ask<Answer<'list_roles'>>('list_roles', {})
  if (terminal.json) return void terminal.data(answer)
  terminal.table(
    [
      { title: 'ROLE', value: each => each.role },
      { title: 'MAY', value: each => each.about, flexible: true },
    ],
    answer.roles,
  )
}

/** `monitor`, `team-lead@website`, or `worker@website:red`. */
function grantsIn(roles: readonly string[]): Grant[] {
  return roles.map(text => {
    const [role = '', ...place] = text.split('@')
    if (!(ROLES as readonly string[]).includes(role))
      throw new InvalidInput('role', `is not one: ${role}`, { try: `Choose one of ${ROLES.join(', ')}.` })
    const wanted = wantedRole(text)
    if (!wanted || (place.length && !wanted.project))
      throw new InvalidInput('role', `names no project after the @: ${text}`, {
        try: `${role}@<project>, ${role}@<project>:<team>, or ${role} for the whole fleet.`,
      })
    return { role: wanted.role, project_id: wanted.project, ...(wanted.team && { team_id: wanted.team }) }
  })
}

async function rolesInWords(cli: Cli, grants: readonly Grant[]): Promise<string> {
  if (!grants.length) return 'no roles'
  const nameOf = async (operation: 'get_project' | 'get_team', input: Record<string, string>, id: string) =>
    (await cli.ask<{ name: string }>(operation, input).catch(() => ({ name: id }))).name
  const names = await Promise.all(
    grants.map(async ({ role, project_id, team_id }) => {
      if (project_id === null) return role
      const project = await nameOf('get_project', { project_id }, project_id)
      if (team_id === undefined) return `${role} in ${project}`
      return `${role} in the team ${await nameOf('get_team', { team_id }, team_id)} of ${project}`
    }),
  )
  return names.join(', ')
}

function daysFromNow(days: string): string {
  const count = Number(days)
  if (!(count > 0 && count <= 3650)) throw new InvalidInput('days', 'must be a number of days, up to 3650')
  return new Date(Date.now() + count * 24 * 3600_000).toISOString()
}
