import { describe, expect, test } from 'vitest'
import { placeInWords, requireTeamFile, TeamFile } from './team-file.ts'

const file = (members: object[], more: object = {}): TeamFile => TeamFile.parse({ ...more, members })

describe('a team in a file', () => {
  test('says who works for whom', () => {
    const { members } = file([
      { handle: 'ada', role: 'team-lead' },
      { handle: 'bob', works_for: 'Ada' },
      { handle: 'cid', works_for: 'ada' },
    ])
    expect(members.map(each => placeInWords(each, members))).toEqual([
      'bob (worker), cid (worker) work for you.',
      'You work for ada (team-lead).',
      'You work for ada (team-lead).',
    ])
  })

  test.each([
    ['a name twice', [{ handle: 'ada' }, { handle: 'Ada' }], /^members\.1\.handle: Ada is there twice/],
    ['the name of a group', [{ handle: 'worker' }], /^members\.0\.handle: worker is the name of a group/],
    ['a stranger', [{ handle: 'ada' }, { handle: 'bob', works_for: 'add' }], /^members\.1\.works_for: nobody .* add/],
    ['itself', [{ handle: 'ada', works_for: 'ada' }], /^members\.0\.works_for: ada would work for itself/],
    [
      'a circle',
      [
        { handle: 'ada', works_for: 'cid' },
        { handle: 'bob', works_for: 'ada' },
        { handle: 'cid', works_for: 'bob' },
      ],
      /^members\.0\.works_for: ada would work for itself/,
    ],
  ])('is refused for %s', (_, members, words) => {
    expect(() => requireTeamFile(file(members))).toThrow(words)
  })

  test('is refused with more members than it allows', () => {
    const members = [{ handle: 'ada' }, { handle: 'bob' }]
    expect(() => requireTeamFile(file(members, { max_members: 1 }))).toThrow('members: are 2, and max_members is 1')
    expect(() => requireTeamFile(file(members, { max_members: 2 }))).not.toThrow()
  })
})
