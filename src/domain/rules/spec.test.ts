import { describe, expect, test } from 'vitest'
import { decideStages } from '../records/workflow.ts'
import { nextSpec, readSpec, requireApprovable, requireBuildable, specMeant, specNamed } from './spec.ts'
import { FLOWS, SPEC_FLOWS } from './spec-flows.ts'

describe('the name of a specification', () => {
  test.each([
    [[], 'Build a bridge', '0001-build-a-bridge'],
    [['0001-a', '0041-b'], 'Über: "$(rm -rf /)" `x`', '0042-uber-rm-rf-x'],
    [['0009-a', 'notes'], '../../etc', '0010-etc'],
    [[], '橋', '0001-spec'],
    [[], 'x'.repeat(200), `0001-${'x'.repeat(50)}`],
  ])('%j and %j make %s', (names, title, name) => {
    expect(nextSpec(names, title)).toBe(name)
    expect(specNamed(`design-docs/${name}/README.md`)).toBe(name)
  })

  test.each([
    'design-docs/README.md',
    'design-docs/0001-a/notes.md',
    'design-docs/1-a/README.md',
    "design-docs/0001-a'b/README.md",
    'design-docs/0001-a/b/README.md',
    'docs/0001-a/README.md',
  ])('%s is none', path => expect(specNamed(path)).toBeUndefined())

  test('is found by number, name, path and words, and never guessed', () => {
    const specs = [{ name: '0001-bridge' }, { name: '0002-bridge-toll' }, { name: '0010-ferry' }]
    const found = (ref: string) => specMeant(specs, ref).name
    expect(['1', '0002', '0001-bridge', 'design-docs/0010-ferry/README.md', 'toll'].map(found)).toEqual([
      ...['0001-bridge', '0002-bridge-toll', '0001-bridge', '0010-ferry', '0002-bridge-toll'],
    ])
    expect(() => found('bridge')).toThrow('spec: bridge could be several')
    expect(() => found('5')).toThrow('spec: there is no specification 5')
  })
})

const TEXT = `# A bridge

**Status:** Draft

Carts cross it.
COMMENT(ada): One horse or two?

## Criteria

- [x] It stands.
- [ ] Carts cross it.
`

describe('what a specification says about itself', () => {
  test('its title, status, comments and criteria', () => {
    expect(readSpec('0001-bridge', TEXT)).toEqual({
      ...{ name: '0001-bridge', path: 'design-docs/0001-bridge/README.md', title: 'A bridge', status: 'Draft' },
      comments: [{ line: 6, name: 'ada', text: 'One horse or two?' }],
      criteria: { done: 1, all: 2 },
    })
    expect(readSpec('0001-bridge', 'Nothing.')).toMatchObject({ title: '0001-bridge', status: null })
  })

  test.each(['Status: approved', '- **Status**: Approved', '> Status: Approved (2026)'])('%s is approved', head =>
    expect(readSpec('0001-a', head).status).toBe('Approved'),
  )

  test('it is approved and built only as it should be', () => {
    const draft = readSpec('0001-a', TEXT.replace(/COMMENT.*\n/, ''))
    expect(() => requireApprovable(draft)).not.toThrow()
    expect(() => requireBuildable(draft)).toThrow('is Draft; only an approved one is built')
    const approved = { ...draft, status: 'Approved' as const }
    expect(() => requireBuildable(approved)).not.toThrow()
    expect(() => requireApprovable(approved)).toThrow('is Approved; only a draft is approved')
    for (const require of [requireApprovable, requireBuildable]) {
      const status = require === requireApprovable ? ('Draft' as const) : ('Approved' as const)
      expect(() => require({ ...readSpec('0001-a', TEXT), status })).toThrow('a comment that is not worked off')
      expect(() => require({ ...draft, status, criteria: { done: 0, all: 0 } })).toThrow('has no criteria')
    }
  })
})

test.each(SPEC_FLOWS)('%s is a workflow that ends at its gate, and only that lands', flow => {
  const stages = decideStages(FLOWS[flow].stages('0001-bridge', ['a', 'b', 'c']))
  expect(stages.filter(({ lands }) => lands !== false).map(({ name }) => name)).toEqual(['close'])
  expect(stages.at(-1)).toMatchObject({ name: 'close', agent: 'shell', script: true })
})
