import { InvalidInput, NotAllowed } from '../errors.ts'

/** Where specifications live in a repository. */
export const SPEC_FOLDER = 'design-docs'

/** The name of a specification: four digits and a slug. It is safe in a script. */
const NAME = /^(\d{4})-([a-z0-9]+(?:-[a-z0-9]+)*)$/
const MOST_SLUG = 50

export const SPEC_STATUSES = ['Draft', 'Approved', 'Implemented'] as const
export type SpecStatus = (typeof SPEC_STATUSES)[number]

export interface Spec {
  name: string
  path: string
  title: string
  /** Null: its head says nothing, or something else. */
  status: SpecStatus | null
  comments: { line: number; name: string; text: string }[]
  criteria: { done: number; all: number }
}

export const specPath = (name: string): string => `${SPEC_FOLDER}/${name}/README.md`

/** The name of the specification in this file; undefined: it is none. */
export function specNamed(path: string): string | undefined {
  const [folder, name = '', file, ...rest] = path.split('/')
  return folder === SPEC_FOLDER && file === 'README.md' && !rest.length && NAME.test(name) ? name : undefined
}

/** The next free number with the words of a title. */
export function nextSpec(names: readonly string[], title: string): string {
  const slug = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, MOST_SLUG)
    .replace(/-$/, '')
  const last = Math.max(0, ...names.map(name => Number(NAME.exec(name)?.[1] ?? 0)))
  if (last >= 9999) throw new NotAllowed(`${SPEC_FOLDER} has no free number left.`)
  return `${String(last + 1).padStart(4, '0')}-${slug || 'spec'}`
}

/** The specification that a person means: its name, its number, or words of its name. */
export function specMeant<S extends Pick<Spec, 'name'>>(specs: readonly S[], ref: string): S {
  const wanted = ref.toLowerCase().replace(new RegExp(`^${SPEC_FOLDER}/|/.*$`, 'g'), '')
  const isMeant = ({ name }: S): boolean =>
    name === wanted || (/^\d+$/.test(wanted) && Number(wanted) === Number(name.slice(0, 4)))
  const exact = specs.filter(isMeant)
  const found = exact.length ? exact : specs.filter(({ name }) => name.includes(wanted))
  if (found.length === 1) return found[0]!
  const names = (found.length ? found : specs).map(({ name }) => name).slice(0, 10)
  throw new InvalidInput('spec', found.length ? `${ref} could be several` : `there is no specification ${ref}`, {
    try: names.length ? `There ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}.` : 'fleet spec create "…"',
  })
}

const STATUS = /^[ \t>*_-]*status[*_]*:[*_]*[ \t]*([a-z]+)/im

/** What a specification says about itself. */
export function readSpec(name: string, text: string): Spec {
  const lines = text.split(/\r?\n/)
  const said = STATUS.exec(text)?.[1]?.toLowerCase()
  const boxes = lines.filter(line => /^\s*[-*] \[[ xX]\] /.test(line))
  return {
    name,
    path: specPath(name),
    title:
      lines
        .find(line => line.startsWith('# '))
        ?.slice(2)
        .trim() || name,
    status: SPEC_STATUSES.find(each => each.toLowerCase() === said) ?? null,
    comments: lines.flatMap((line, at) => {
      const [, by, words] = /COMMENT\(([^()]{1,80})\):\s*(.*)$/.exec(line) ?? []
      return by === undefined ? [] : [{ line: at + 1, name: by, text: words ?? '' }]
    }),
    criteria: { done: boxes.filter(box => !/\[ \]/.test(box)).length, all: boxes.length },
  }
}

/** Refuses to build what nobody approved, or what still has remarks. */
export function requireBuildable({ name, status, comments, criteria }: Spec): void {
  if (status !== 'Approved')
    throw new NotAllowed(
      `The specification ${name} is ${status ?? 'without a status'}; only an approved one is built.`,
      {
        try: `fleet spec approve ${name}`,
      },
    )
  requireNoComments({ name, comments })
  if (!criteria.all)
    throw new NotAllowed(`The specification ${name} has no criteria, so nobody could tell when it is done.`, {
      try: 'Add some as a list of boxes: - [ ] …',
    })
}

/** Refuses what cannot be approved. */
export function requireApprovable({ name, status, comments, criteria }: Spec): void {
  if (status !== 'Draft')
    throw new NotAllowed(`The specification ${name} is ${status ?? 'without a status'}; only a draft is approved.`)
  requireNoComments({ name, comments })
  if (!criteria.all)
    throw new NotAllowed(`The specification ${name} has no criteria.`, { try: 'Add some as a list of boxes: - [ ] …' })
}

function requireNoComments({ name, comments }: Pick<Spec, 'name' | 'comments'>): void {
  const [first] = comments
  if (first)
    throw new NotAllowed(
      `The specification ${name} has ${comments.length === 1 ? 'a comment' : `${comments.length} comments`} that ${comments.length === 1 ? 'is' : 'are'} not worked off (line ${first.line}: ${first.name}).`,
      { try: `fleet spec revise ${name}` },
    )
}
