import type { StageInput } from '../records/workflow.ts'
import { specPath } from './spec.ts'

/** How often something is written anew after a review, before a person has to look. */
const ROUNDS = 3
/** What a review says alone on a line if nothing is missing. */
export const APPROVED = 'APPROVED'

type Agents = readonly (string | undefined)[]

const VERDICT = `Change nothing. If nothing is missing, answer with one line that says only ${APPROVED}. Otherwise list what is missing or wrong, the most important first, and do not write that line.`

interface Round {
  work: string
  prompt: string
  /** What is told from the second round on. */
  again: string
  review: string
  reviewPrompt: string
  worker: string | undefined
  reviewer: string | undefined
  after: string[]
  type?: StageInput['type']
}

/** Work and its review, again and again until the review says so. Rounds that are not needed are skipped. */
function untilApproved({ work, review, ...round }: Round): StageInput[] {
  const called = (name: string, at: number): string => (at === 1 ? name : `${name} ${at}`)
  const key = (name: string): string => name.replaceAll(' ', '_')
  return Array.from({ length: ROUNDS }, (_, i) => i + 1).flatMap((at): StageInput[] => {
    const before = called(review, at - 1)
    const told = `${round.prompt}\n\n${round.again}\n\n{stage_${key(before)}_summary}`
    return [
      {
        name: called(work, at),
        prompt: at === 1 ? round.prompt : told,
        agent: round.worker ?? null,
        type: round.type,
        depends_on: at === 1 ? round.after : [called(work, at - 1), before],
        worktree: at === 1 && !round.after.length ? 'new' : 'inherit',
        lands: false,
        ...(at > 1 && { when: { stage: before, status: ['completed'], lacks_line: APPROVED } }),
      },
      {
        name: called(review, at),
        prompt: round.reviewPrompt,
        agent: round.reviewer ?? null,
        type: 'review',
        tool_preset: 'review',
        depends_on: [called(work, at)],
        lands: false,
        ...(at > 1 && { when: { stage: called(work, at), status: ['completed'] } }),
      },
    ]
  })
}

const rounds = (name: string): string[] => Array.from({ length: ROUNDS }, (_, i) => (i ? `${name} ${i + 1}` : name))

/**
 * A script that lets a document through only as it must be, and writes down that it did. Nobody's words are in it:
 * names are digits and letters.
 */
function gate(
  name: string,
  { review, after, done }: { review?: string; after: string[]; done: string },
  steps: string[],
): StageInput {
  const variable = (at: number): string => `FLEET_STAGE_${review!.toUpperCase()}${at === 1 ? '' : `_${at}`}`
  const verdict = review
    ? [
        `verdict=$${variable(1)}_SUMMARY`,
        ...Array.from({ length: ROUNDS - 1 }, (_, i) => i + 2).map(
          at => `if [ "$${variable(at)}_STATUS" = completed ]; then verdict=$${variable(at)}_SUMMARY; fi`,
        ),
        `printf '%s\\n' "$verdict" | tr -cd 'A-Za-z\\n' | grep -qix ${APPROVED} || refuse 'The last review does not approve it.'`,
      ]
    : []
  return {
    name: 'close',
    prompt: [
      'refuse() { echo "$1" >&2; printf \'{"status": "blocked", "summary": "%s"}\' "$1" > "$FLEET_RESULT_FILE"; exit 1; }',
      `document=${specPath(name)}`,
      '[ -f "$document" ] || refuse "There is no file $document."',
      ...verdict,
      ...steps,
      `grep -q '^## Progress' "$document" || printf '\\n## Progress\\n\\n' >> "$document"`,
      `printf -- '- %s ${done}\\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >> "$document"`,
      'tail -n 1 "$document"',
      '',
    ].join('\n'),
    agent: 'shell',
    depends_on: after,
    worktree: 'inherit',
  }
}

/** The word after "Status:", also in bold, in a list or in a quote. */
const STATUS_WORD = '\\([[:space:]>*_-]*[Ss][Tt][Aa][Tt][Uu][Ss][*_]*:[*_]*[[:space:]]*\\)'

/** Shell that changes the status of `$document`. */
export const setStatus = (status: string): string =>
  `sed 's/^${STATUS_WORD}[A-Za-z]*/\\1${status}/' "$document" > "$FLEET_RESULT_FILE.document"\ncat "$FLEET_RESULT_FILE.document" > "$document"`
const hasStatus = (status: string): string =>
  `grep -qi '^${STATUS_WORD}${status}' "$document" || refuse 'It does not say Status: ${status}.'`
const NO_MARKS = `if grep -q 'COMMENT(' "$document"; then refuse 'It still has a COMMENT mark.'; fi`
const HAS_BOXES = `grep -q '^[[:space:]]*[-*] \\[.\\] ' "$document" || refuse 'It has no criteria as a list of boxes.'`
const NO_OPEN_BOX = `if grep -q '^[[:space:]]*[-*] \\[ \\] ' "$document"; then refuse 'Not all of its criteria are ticked.'; fi`

const FORM = `It begins with a title (# …) and a line "Status: Draft", says what is wanted and why, how it is done and what is left out, and ends with "## Criteria": a list of boxes (- [ ] …), each of which somebody can check.`

export const SPEC_FLOWS = ['create', 'interview', 'revise', 'execute'] as const
export type SpecFlow = (typeof SPEC_FLOWS)[number]

/** The stages of each flow, for a document with this name. `agents` do its stages, in this order. */
export const FLOWS: Record<SpecFlow, { agents: string[]; stages(name: string, agents: Agents): StageInput[] }> = {
  create: {
    agents: ['drafter', 'reviewer'],
    stages: (name, [drafter, reviewer]) => [
      {
        name: 'clarify',
        prompt: `Read this task and the repository. Change nothing. Before anything is written, ask the person what is not clear (the tool ask_human): numbered questions, at most four, each with the answer that you would choose. At least one round is needed; ask another one if the answers raise questions. Then say what was asked and answered.\n\nThe task:\n\n{task_prompt}`,
        agent: drafter ?? null,
        type: 'explore',
        tool_preset: 'explore',
        asks: true,
        lands: false,
      },
      ...untilApproved({
        work: 'draft',
        prompt: `Write the design document ${specPath(name)} for this task, and change no other file. ${FORM}\n\nThe task:\n\n{task_prompt}\n\nWhat the person was asked, and answered:\n\n{stage_clarify_summary}`,
        again: 'It is there already. A review of it says what is missing; work it off:',
        review: 'review',
        reviewPrompt: `Review the design document ${specPath(name)}. Would two people who read it build the same? Can each criterion be checked? ${VERDICT}\n\nThe task:\n\n{task_prompt}`,
        worker: drafter,
        reviewer,
        after: ['clarify'],
      }),
      gate(
        name,
        { review: 'review', after: [...rounds('draft'), ...rounds('review')], done: 'Drafted and reviewed.' },
        [hasStatus('Draft'), NO_MARKS, HAS_BOXES],
      ),
    ],
  },
  interview: {
    agents: ['analyst'],
    stages: (name, [analyst]) => [
      {
        name: 'ask',
        prompt: `Read ${specPath(name)} and what it concerns in the repository. Change nothing. Find what two readers would build differently, and ask the person about it (the tool ask_human): numbered questions, at most four a round, the most important first, each with the answer that you would choose. Ask another round while there is something to ask. Then list every question with its answer and the place in the document that it concerns.\n\n{task_prompt}`,
        agent: analyst ?? null,
        type: 'explore',
        tool_preset: 'explore',
        asks: true,
        lands: false,
      },
      {
        name: 'note',
        prompt: `Write these answers into ${specPath(name)}, each on a line of its own below what it concerns, as "COMMENT(person): …". Change nothing else.\n\n{stage_ask_summary}`,
        agent: analyst ?? null,
        depends_on: ['ask'],
        worktree: 'new',
        lands: false,
      },
      gate(name, { after: ['note'], done: 'A person was asked.' }, [
        `grep -q 'COMMENT(' "$document" || refuse 'No answer became a comment.'`,
      ]),
    ],
  },
  revise: {
    agents: ['drafter', 'reviewer'],
    stages: (name, [drafter, reviewer]) => [
      ...untilApproved({
        work: 'draft',
        prompt: `${specPath(name)} has remarks of people, marked COMMENT(name). Work each off in the document and remove its mark. Change no other file.\n\n{task_prompt}`,
        again: 'A review of what you made of them says what is missing; work it off:',
        review: 'review',
        reviewPrompt: `${specPath(name)} was changed after remarks of people (git diff shows how). Was each remark worked off, and is the document still one piece? ${VERDICT}`,
        worker: drafter,
        reviewer,
        after: [],
      }),
      gate(
        name,
        {
          review: 'review',
          after: [...rounds('draft'), ...rounds('review')],
          done: 'Comments worked off and reviewed.',
        },
        [NO_MARKS, HAS_BOXES, setStatus('Draft')],
      ),
    ],
  },
  execute: {
    agents: ['tester', 'builder', 'verifier'],
    stages: (name, [tester, builder, verifier]) => [
      ...untilApproved({
        work: 'tests',
        prompt: `Write the tests that the criteria of ${specPath(name)} ask for. They must fail for now. Implement nothing, and leave the document as it is.\n\n{task_prompt}`,
        again: 'They are there already. A review of them says what is missing; work it off:',
        review: 'check',
        reviewPrompt: `Review the new tests. Do they ask for what the criteria of ${specPath(name)} say, all of it and nothing else? ${VERDICT}`,
        worker: tester,
        reviewer: verifier,
        after: [],
        type: 'test',
      }),
      ...untilApproved({
        work: 'build',
        prompt: `Make the tests for ${specPath(name)} pass, as it says. Change no test. If one is wrong, say so and stop. Add a line for what you did below "## Progress" at the end of the document.\n\n{task_prompt}`,
        again: 'It was built already. Somebody who checked it says what does not hold; mend it:',
        review: 'verify',
        reviewPrompt: `Check what was built against each criterion of ${specPath(name)}: run the tests, and name the command that shows it. ${VERDICT}`,
        worker: builder,
        reviewer: verifier,
        after: [...rounds('tests'), ...rounds('check')],
      }),
      {
        name: 'tick',
        prompt: `Tick each criterion of ${specPath(name)} that holds (- [x]), and add a line below "## Progress" with how you know. Change no other file. The last check says:\n\n{stage_verify_summary}`,
        agent: verifier ?? null,
        depends_on: [...rounds('build'), ...rounds('verify')],
        worktree: 'inherit',
        lands: false,
      },
      gate(
        name,
        { review: 'verify', after: ['tick', ...rounds('verify')], done: 'Built, and checked against each criterion.' },
        [hasStatus('Approved'), HAS_BOXES, NO_OPEN_BOX, setStatus('Implemented')],
      ),
    ],
  },
}
