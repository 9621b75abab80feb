import * as z from 'zod'
import type { Mission, StatusReason } from '../records/mission.ts'
import { ChangedFile } from '../records/report.ts'
import { clipped, headOf } from '../text.ts'
import type { Included } from './candidate.ts'
import { isGenerated, isProse, sensitivityOf } from './file-kinds.ts'
import { isTest } from './test-files.ts'

export const SizedFile = ChangedFile.extend({
  added: z.number().int().nullable().describe('lines; empty: not a text file'),
  deleted: z.number().int().nullable(),
  generated: z.literal(true).optional().describe('a program writes it: by its name, or as its repository says'),
})
export type SizedFile = z.infer<typeof SizedFile>

export const Overlap = z.object({
  mission_id: z.string(),
  title: z.string(),
  status: z.string(),
  files: z.array(z.string()).describe('the files that both changed'),
})
export type Overlap = z.infer<typeof Overlap>

/** The results of the project's checks on exactly this work. */
export const Checked = z.object({
  passed: z.array(z.string()),
  failed: z.array(z.string()),
  missing: z.array(z.string()).describe('not run on this work yet'),
})
export type Checked = z.infer<typeof Checked>

export const RISK_LEVELS = ['low', 'medium', 'high'] as const
export const Risk = z.object({
  level: z.enum(RISK_LEVELS),
  score: z.number().int().min(0).max(100),
  reasons: z
    .array(z.object({ label: z.string().describe('one or two words'), text: z.string().describe('a sentence') }))
    .describe('the most important first'),
})
export type Risk = z.infer<typeof Risk>

export interface Work {
  mission: Pick<Mission, 'title' | 'prompt' | 'acceptance_criteria' | 'subdirectory' | 'status_reason'>
  files: readonly SizedFile[]
  /** Missions whose unlanded work it includes. */
  includes: readonly Included[]
  filesOmitted: number
  lines: number
  checked: Checked
  overlaps: readonly Overlap[]
  /** What the agent says it did not test. */
  untested: readonly string[]
}

interface Doubt {
  points: number
  label: string
  text: string
}

const MEDIUM = 20
const HIGH = 50
const NAMED_FILES = 4
/** Agents write some of the reasons, so each is cut to a sentence or two. */
const REASON_CHARS = 400

/** How carefully a person should look at finished work before it lands, and why. */
export function riskOf(work: Work): Risk {
  const doubts = [
    raisedBy(work.mission.status_reason),
    ofChecks(work),
    ofOverlaps(work.overlaps),
    ofOthers(work.includes),
    ofSize(work),
    ofTests(work.files),
    ofDeletions(work),
    ofBinaries(work.files),
    ofSensitive(work.files),
    ofPlaces(work),
    ofWords(work.untested),
  ]
    .flat()
    .toSorted((a, b) => b.points - a.points)
  const score = Math.min(
    100,
    doubts.reduce((sum, { points }) => sum + points, 0),
  )
  return {
    level: score >= HIGH ? 'high' : score >= MEDIUM ? 'medium' : 'low',
    score,
    reasons: doubts.map(({ label, text }) => ({ label, text: clipped(text, REASON_CHARS) })),
  }
}

/** The weight of each reason that sent work to review although the policy did not. Checks are weighed separately. */
const CONCERNS: Record<string, number> = {
  shared_git_changed: 60,
  secret_committed: 60,
  base_moved: 45,
  unfinished: 40,
  conflict: 35,
  submodule_commit: 30,
  left_out: 20,
  large_file: 30,
  unapproved: 0,
  landing_failed: 20,
  undone: 15,
  policy: 0,
  checks_failed: 0,
  reconsidered: 5,
  resolved: 10,
  in_the_way: 0,
}
const OTHER_CONCERN = 25
const CONCERN_LABELS: Record<string, string> = {
  shared_git_changed: 'Git settings',
  secret_committed: 'Secret',
  base_moved: 'Base moved',
  unfinished: 'Unfinished',
  conflict: 'Conflict',
  resolved: 'Conflict resolved',
  submodule_commit: 'Submodule',
  left_out: 'Files left out',
  large_file: 'Large file',
  landing_failed: 'Landing failed',
  undone: 'Undone',
  reconsidered: 'Rejected before',
  pull_request: 'Pull request',
}

function raisedBy(reason: StatusReason | null): Doubt[] {
  const points = reason ? (CONCERNS[reason.code] ?? OTHER_CONCERN) : 0
  return points ? [{ points, label: CONCERN_LABELS[reason!.code] ?? 'Attention', text: reason!.text }] : []
}

function ofChecks({ checked: { passed, failed, missing } }: Work): Doubt[] {
  if (failed.length) return [{ points: 40, label: 'Checks failed', text: `${checks(failed)} failed on this work.` }]
  if (missing.length)
    return [
      {
        ...{ points: 10, label: 'Not checked' },
        text: `${checks(missing)} ${missing.length > 1 ? 'have' : 'has'} not run on this work yet.`,
      },
    ]
  return passed.length ? [] : [{ points: 8, label: 'No checks', text: 'The project has no checks.' }]
}
const checks = (names: string[]): string => `The check${names.length > 1 ? 's' : ''} ${names.join(', ')}`

function ofOverlaps(overlaps: readonly Overlap[]): Doubt[] {
  const [first] = overlaps
  if (!first) return []
  const more = overlaps.length > 1 ? ` ${overlaps.length - 1} more change some of its files too.` : ''
  const text = `“${first.title}” (${first.mission_id}) has not landed either and changes ${listed(first.files)} as well.${more}`
  return [{ points: Math.min(30, 10 + 5 * overlaps.length), label: 'Overlap', text }]
}

function ofOthers(includes: readonly Included[]): Doubt[] {
  const unlanded = includes.filter(({ standing }) => standing !== 'landed')
  if (!unlanded.length) return []
  const parts = unlanded.slice(0, NAMED_FILES).map(({ title, files, files_omitted }) => {
    const count = files.length + files_omitted
    return `${count} file${count === 1 ? '' : 's'} of “${title}”`
  })
  const more = unlanded.length > NAMED_FILES ? ` and work of ${unlanded.length - NAMED_FILES} more` : ''
  const open = unlanded.some(({ standing }) => standing === 'unapproved')
  return [{ points: open ? 20 : 4, label: 'Includes other work', text: `It includes ${parts.join(', ')}${more}.` }]
}

const SIZES: readonly [lines: number, points: number][] = [
  [2000, 36],
  [600, 26],
  [200, 14],
  [60, 6],
]
const MANY_FILES = 20

/** Lines that a program wrote need no reading. */
const linesIn = (files: readonly SizedFile[]): number =>
  files.reduce((sum, { added, deleted }) => sum + (added ?? 0) + (deleted ?? 0), 0)
const isMade = ({ path, generated }: SizedFile): boolean => generated === true || isGenerated(path)

function ofSize({ lines, files, filesOmitted }: Work): Doubt[] {
  const count = files.length + filesOmitted
  const toRead = Math.max(0, lines - linesIn(files.filter(isMade)))
  const points = (SIZES.find(([least]) => toRead >= least)?.[1] ?? 0) + (count >= MANY_FILES ? 8 : 0)
  const text = `It changes ${toRead} lines in ${filesOf(count)}.`
  return points ? [{ points, label: 'Large', text }] : []
}

const filesOf = (count: number): string => `${count} file${count === 1 ? '' : 's'}`

function ofTests(files: readonly SizedFile[]): Doubt[] {
  const gone = files.filter(({ path, change }) => change === 'deleted' && isTest(path)).map(({ path }) => path)
  if (gone.length) return [{ points: 20, label: 'Deletes tests', text: `It deletes tests: ${listed(gone)}.` }]
  const program = files.filter(file => !isTest(file.path) && !isProse(file.path) && !isMade(file))
  const tested = files.some(({ path }) => isTest(path))
  return program.length && !tested ? [{ points: 10, label: 'No tests', text: 'No test was touched.' }] : []
}

/** This many deleted lines, and this many times as many as were added, stand out. */
const MANY_DELETED = 100
const MUCH_MORE = 4

function ofDeletions({ files }: Work): Doubt[] {
  const own = files.filter(file => !isMade(file))
  const gone = own.filter(({ change, path }) => change === 'deleted' && !isTest(path)).map(({ path }) => path)
  const sum = (side: 'added' | 'deleted') => own.reduce((total, file) => total + (file[side] ?? 0), 0)
  const [added, deleted] = [sum('added'), sum('deleted')]
  if (gone.length)
    return [
      {
        ...{ points: Math.min(20, 6 + 2 * gone.length), label: 'Deletes files' },
        text: `It deletes ${filesOf(gone.length)}: ${listed(gone)}.`,
      },
    ]
  return deleted >= MANY_DELETED && deleted >= MUCH_MORE * added
    ? [{ points: 10, label: 'Mostly deletions', text: `It deletes ${deleted} lines and adds ${added}.` }]
    : []
}

/** Nobody can read these in a diff. */
function ofBinaries(files: readonly SizedFile[]): Doubt[] {
  const binary = files.filter(({ added, change }) => added === null && change !== 'deleted').map(({ path }) => path)
  return binary.length
    ? [
        {
          points: Math.min(14, 8 + binary.length),
          label: 'Binary',
          text: `It changes files that are not text: ${listed(binary)}.`,
        },
      ]
    : []
}

function ofSensitive(files: readonly SizedFile[]): Doubt[] {
  const found = files.flatMap(({ path, from }) => {
    const sensitive = sensitivityOf(path) ?? (from ? sensitivityOf(from) : undefined)
    return sensitive ? [{ path, ...sensitive }] : []
  })
  return [...Map.groupBy(found, ({ label }) => label)].map(([label, those]) => {
    const { about, points } = those[0]!
    return { points, label, text: `It changes ${about}: ${listed(those.map(({ path }) => path))}.` }
  })
}

/** Files outside the folders that the mission names. A mission that names none may change any. */
function ofPlaces({ mission, files }: Work): Doubt[] {
  const inside = insideOf(mission, files)
  const outside = inside
    ? files.map(({ path }) => path).filter(path => !inside(path) && !isTest(path) && !isGenerated(path))
    : []
  return outside.length
    ? [
        {
          points: Math.min(16, 8 + outside.length),
          label: 'Other folders',
          text: `It changes files outside what the mission names: ${listed(outside)}.`,
        },
      ]
    : []
}

const PATH_LIKE = /[\w@.-]+(?:\/[\w@.-]+)*\/?/g

function insideOf(mission: Work['mission'], files: readonly SizedFile[]): ((path: string) => boolean) | undefined {
  const { subdirectory } = mission
  const words = `${mission.title}\n${headOf(mission.prompt)}\n${mission.acceptance_criteria}`
  const said = new Set(
    (words.match(PATH_LIKE) ?? [])
      .filter(word => /[./]/.test(word))
      .map(word => word.replace(/^\.\//, '').replace(/[./]+$/, '')),
  )
  const folders = files.flatMap(({ path }) => {
    const parents = foldersOf(path)
    if (said.has(path) || said.has(path.slice(path.lastIndexOf('/') + 1))) return [parents.at(-1) ?? '']
    return parents.filter(folder => said.has(folder))
  })
  if (subdirectory) folders.push(subdirectory.replace(/\/+$/, ''))
  if (!folders.length) return undefined
  return path => folders.some(folder => (folder === '' ? !path.includes('/') : path.startsWith(`${folder}/`)))
}

/** `a/b/c.ts` is in `a` and `a/b`. */
const foldersOf = (path: string): string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, at, parts) => parts.slice(0, at + 1).join('/'))

const ofWords = (untested: readonly string[]): Doubt[] =>
  untested.length ? [{ points: 6, label: 'Not tested', text: `The agent says this is not tested: ${untested[0]}` }] : []

function listed(paths: readonly string[]): string {
  const more = paths.length - NAMED_FILES
  return paths.slice(0, NAMED_FILES).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
