import { KNOWN_NAMES, KNOWN_TOOLS, type KnownName, NAME_KINDS, type NameKind } from '../src/known-names.ts'
import { cell, code, table } from './markdown.ts'

export const knownNamesTable = (names: readonly KnownName[]): string =>
  table(
    ['theirs', 'here', 'ours', 'remark'],
    names.map(({ name, fate, ours, why = '' }) => [code(name), FATES[fate], ours ? code(ours) : '', cell(why)]),
  )

const FATES = { kept: 'kept', replaced: 'replaced by', dropped: 'dropped', 'not yet': 'not yet' }

export function compatibilityPage(): string {
  return [
    'Names that people know from other tools, and what became of them here. A name that is kept can be called, and a test calls each of them with our own inputs. Not every answer has the shape that the other tool gave it: lists come with a cursor, statuses are ours, and every call needs a token. Try a client of yours before you rely on it.',
    ...KNOWN_TOOLS.flatMap(tool => {
      const names = KNOWN_NAMES.filter(({ from }) => from === tool)
      const kinds = (Object.keys(NAME_KINDS) as NameKind[]).filter(kind => names.some(each => each.kind === kind))
      return [
        `## ${tool}`,
        ...kinds.flatMap(kind => [
          `### ${NAME_KINDS[kind]}`,
          knownNamesTable(names.filter(each => each.kind === kind)),
        ]),
      ]
    }),
  ].join('\n\n')
}
