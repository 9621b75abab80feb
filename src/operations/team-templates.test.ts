import { describe, expect, test } from 'vitest'
import type { Refusal } from '../domain/errors.ts'
import { aProject } from '../domain/samples.testkit.ts'
import { all } from '../fleet/records.ts'
import { TEAM_TEMPLATES } from '../fleet/teams/templates.ts'
import { aBench } from '../fleet/workshop.testkit.ts'
import { authorize } from './authorize.ts'
import { operationNamed } from './index.ts'
import { parseInput } from './shape.ts'

interface Made {
  id: string
  description: string
  max_members: number
  members: { handle: string; role: string; works_for: string | null; agent: string | null; labels: string[] }[]
}

/** A project whose agent needs no client. */
async function aPlace() {
  const { fleet, save } = aBench()
  await save('projects', aProject({ agent: 'claude' }))
  const caller = { kind: 'owner' } as const
  const ask = async <T>(name: string, input: object): Promise<T> => {
    const operation = operationNamed(name)!
    if (operation.kind === 'stream') throw new Error(name)
    const given = parseInput(operation, input)
    const seen = await authorize(operation, { fleet, caller }, given)
    return (await operation.run({ fleet: seen, caller, signal: new AbortController().signal }, given)) as T
  }
  return {
    ask,
    create: (more: object) => ask<Made>('create_team', { project_id: 'p1', name: 'crew', ...more }),
    count: async (collection: 'teams' | 'members' | 'missions') =>
      (await Array.fromAsync(all(fleet, collection, 'id'))).length,
  }
}

const YAML = `# Two who write, one who leads.
description: We look after the harbour.
max_members: 4
members:
  - handle: ada
    role: team-lead
    charter: |
      You lead.
  - handle: bob
    works_for: ada
    agent: shell
    charter: echo "{hello}"
    labels: [north, south]
`
const TOML = `# Two who write, one who leads.
description = "We look after the harbour."
max_members = 4

[[members]]
handle = "ada"
role = "team-lead"
charter = """
You lead.
[[members]]
role = "not this one"
"""

[[members]]
handle = "bob"
works_for = "ada"
agent = "shell"
charter = 'echo "{hello}"'
labels = ["north", "south"]
`

describe('a team from a file', () => {
  test.each([
    ['YAML', YAML],
    ['TOML', TOML],
  ])('%s', async (_, file) => {
    const { ask, create } = await aPlace()
    const team = await create({ file })
    expect(team).toMatchObject({ description: 'We look after the harbour.', max_members: 4 })
    expect(team.members).toMatchObject([
      { handle: 'operator' },
      { handle: 'ada', role: 'team-lead', works_for: null, agent: 'claude' },
      { handle: 'bob', role: 'worker', works_for: 'ada', agent: 'shell', labels: ['north', 'south'] },
    ])
    const charter = async (member: string) =>
      (await ask<{ charter: string }>('get_member', { team_id: team.id, member })).charter
    expect(await charter('ada')).toContain('You lead.')
    expect(await charter('ada')).toContain('bob (worker) works for you.')
    // A script is run as it was written.
    expect(await charter('bob')).toBe('echo "{hello}"')
  })

  test('what is asked for besides comes before the file', async () => {
    const { create } = await aPlace()
    expect(await create({ file: YAML, description: 'Ships', max_members: 2 })).toMatchObject({
      description: 'Ships',
      max_members: 2,
    })
  })

  test.each<[string, string, RegExp]>([
    ['no YAML', 'members:\n  - handle: "ada\n', /^file: line \d+: this is not YAML \(/],
    ['no TOML', '[[members]]\nhandle = ada\n', /^file: line 2: this is not TOML \(/],
    ['nothing', '', /^file: line 1, file: must be an object/],
    ['no members', 'description: x\n', /^file: line 1, members: is missing; it must be a list/],
    ['an unknown field', `${YAML}colour: red\n`, /^file: line 14, colour: is not a field of a team file/],
    ['an unknown field of a member', YAML.replace('agent:', 'client:'), /^file: line 11, client of member 2: is not/],
    ['a wrong role', YAML.replace('team-lead', 'boss'), /^file: line 6, role of member 1: must be team-lead, .* or/],
    [
      'a wrong role',
      TOML.replace('"team-lead"', '"boss"'),
      /^file: line 7, role of member 1: must be team-lead, .* or/,
    ],
    ['a bad name', TOML.replace('"bob"', '"bob!"'), /^file: line 15, handle of member 2: has 1 to 40 letters/],
    ['a name twice', YAML.replace('bob', 'Ada'), /^file: line 9, handle of member 2: Ada is there twice/],
    ['a stranger', TOML.replace('"ada"\nagent', '"eve"\nagent'), /^file: line 16, works_for of member 2: nobody/],
    ['an unknown agent', YAML.replace('shell', 'bash'), /^file: line 11, agent of member 2: There is no agent "bash"/],
    [
      'a script that is missing',
      TOML.replace(/charter = '.*'\n/, ''),
      /^file: line 14, charter of member 2: is missing/,
    ],
    ['too many', YAML.replace('4', '1'), /^file: line 4, members: are 2, and max_members is 1/],
    ['JSON with a mistake', '{"members": [\n{"handle": 7}]}', /^file: line 2, handle of member 1: must be text/],
    ['what stands for too much', `a: &a [x,x,x,x,x,x,x,x,x]\n${bomb()}members: *i\n`, /^file: this is not YAML \(/],
    [
      'the prototype of objects',
      '{"members": [{"handle": "ada", "__proto__": {"role": "merger"}}]}',
      /__proto__ of member 1/,
    ],
  ])('%s is refused with its line, and nothing is made', async (_, file, words) => {
    const { create, count } = await aPlace()
    await expect(create({ file })).rejects.toThrow(words)
    expect([await count('teams'), await count('members'), await count('missions')]).toEqual([0, 0, 0])
  })

  test('a template and a file are one too many', async () => {
    const { create } = await aPlace()
    await expect(create({ file: YAML, template: 'feature' })).rejects.toThrow('file: is given, and a template too')
  })

  test('asked for by five at once it is made once', async () => {
    const { create, count } = await aPlace()
    const made = await Promise.allSettled(Array.from({ length: 5 }, () => create({ file: YAML })))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect([await count('teams'), await count('members')]).toEqual([1, 3])
  })
})

/** Aliases of aliases. */
function bomb(): string {
  const names = [...'abcdefghi']
  return names
    .slice(1)
    .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${names[at]}`).join(',')}]\n`)
    .join('')
}

describe('the built-in templates', () => {
  test.each(TEAM_TEMPLATES.map(({ name }) => name))('%s makes a team that one leads', async template => {
    const { create } = await aPlace()
    const agents = (await create({ template })).members.filter(({ handle }) => handle !== 'operator')
    expect(agents.length).toBeGreaterThan(3)
    const [lead, ...others] = agents
    expect(lead).toMatchObject({ role: 'team-lead', works_for: null })
    expect(new Set(others.map(({ works_for }) => works_for))).toEqual(new Set([lead!.handle]))
  })

  test('another name is refused with those that there are', async () => {
    const { create } = await aPlace()
    const refused = (await create({ template: 'features' }).catch(error => error)) as Refusal
    expect([refused.message, refused.hint]).toEqual([
      'There is no template "features".',
      'One of feature, review-board, spec.',
    ])
  })
})
