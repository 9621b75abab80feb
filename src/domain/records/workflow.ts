import * as z from 'zod'
import { InvalidInput } from '../errors.ts'
import { Id, Timestamp } from '../ids.ts'
import { mentionedIn, nameOf } from '../rules/script-variables.ts'
import { keyOf, type Variable, variablesIn } from '../rules/template.ts'
import { StoredText } from '../text.ts'
import { MissionSettings, MissionType, StatusReason } from './mission.ts'
import { STAGE_STATUSES, type StageStatus } from './stage-status.ts'

export const MAX_STAGES = 2000
/** The same limit as for the dependencies of a mission. */
const MAX_DEPENDENCIES = 60

export const WORKTREE_STRATEGIES = ['new', 'inherit', 'share'] as const

const StageRef = z.union([z.string().min(1).max(120), z.number().int().min(0)])
const limits = MissionSettings.shape

/** One piece of a workflow, as a person writes it. */
export const StageInput = z
  .object({
    name: z.string().min(1).max(120),
    prompt: z
      .string()
      .min(1)
      .max(200_000)
      .optional()
      .describe('may contain {task_prompt}, {stage_N_summary} and other variables'),
    prompt_template: z.string().min(1).max(200_000).optional().describe('the same as prompt'),
    agent: limits.agent,
    executor: z.string().min(1).max(40).optional().describe('the same as agent'),
    model: limits.model,
    effort: limits.effort,
    reasoning_effort: z.string().max(20).optional().describe('the same as effort'),
    type: MissionType.optional(),
    worktree: z
      .enum(WORKTREE_STRATEGIES)
      .optional()
      .describe(
        'new: from the base branch; inherit: from the work of what it depends on, merged; share: in its worktree',
      ),
    worktree_strategy: z.enum(WORKTREE_STRATEGIES).optional().describe('the same as worktree'),
    depends_on: z
      .array(StageRef)
      .max(MAX_DEPENDENCIES)
      .default([])
      .describe('names, or positions in the list, counted from 0'),
    subdirectory: limits.subdirectory,
    acceptance_criteria: limits.acceptance_criteria,
    tool_preset: limits.tool_preset,
    approvals: limits.approvals,
    max_turns: limits.max_turns,
    max_budget_usd: limits.max_budget_usd,
    timeout_seconds: limits.timeout_seconds,
    retries: z.number().int().min(0).max(10).default(0),
    checked: z.boolean().default(false).describe("it succeeds only if the project's checks pass on its own work"),
    lands: z
      .union([z.boolean(), z.literal('review')])
      .optional()
      .describe('empty: it lands if nothing depends on it; review: it lands when a person approves it'),
    on_failure: z
      .union([z.enum(['stop', 'continue']), z.object({ run: StageRef })])
      .default('stop')
      .describe('continue: later stages run anyway; run: another stage replaces it'),
    when: z
      .object({
        stage: StageRef,
        status: z.array(z.enum(STAGE_STATUSES)).min(1).optional(),
        says: z.string().min(1).max(400).optional().describe('its report contains these words, in upper or lower case'),
        lacks_line: z
          .string()
          .min(1)
          .max(400)
          .optional()
          .describe('no line of its report is only these words, in upper or lower case'),
      })
      .optional()
      .describe('it is skipped unless this is true'),
    chooses: z
      .array(StageRef)
      .min(2)
      .max(MAX_DEPENDENCIES)
      .optional()
      .describe('it names a winner among these, and only the winner lands'),
    asks: z.boolean().default(false).describe('it succeeds only if a person has answered a question of it'),
  })
  .strict()
export type StageInput = z.input<typeof StageInput>

/** A workflow as a file holds it. */
export const WorkflowFile = z.union([
  z.array(StageInput),
  z.object({
    name: z.string().min(1).max(200).optional(),
    task_prompt: z.string().optional(),
    stages: z.array(StageInput),
  }),
])

/** A stage with all defaults filled in. Other stages are named by their index. */
export interface Stage {
  name: string
  prompt: string
  agent: string | null
  /**
   * Whether its prompt is a script, because its author named an agent that runs scripts. Absent in records of an
   * earlier version.
   */
  script?: boolean
  model: string | null
  effort: string | null
  type: z.infer<typeof MissionType>
  worktree: (typeof WORKTREE_STRATEGIES)[number]
  depends_on: number[]
  /** Absent in records of an earlier version. */
  subdirectory?: string
  acceptance_criteria: string
  tool_preset: z.infer<typeof limits.tool_preset>
  approvals: z.infer<typeof limits.approvals>
  max_turns: number | null
  max_budget_usd: number | null
  timeout_seconds: number | null
  retries: number
  checked: boolean
  lands: boolean | 'review'
  on_failure: 'stop' | 'continue' | { run: number }
  when: { stage: number; status?: StageStatus[]; says?: string; lacks_line?: string } | null
  chooses: number[] | null
  /** Absent in records of an earlier version. */
  asks?: boolean
  /** Incremented whenever the stage is to be done again. */
  generation: number
}

export const WORKFLOW_STATUSES = ['making', 'running', 'done', 'failed', 'cancelled'] as const

/** Missions in stages, made together. */
export const Workflow = z.object({
  id: Id,
  name: z.string().min(1).max(200),
  project_id: Id,
  task: StoredText,
  /** The stages, with all defaults filled in. */
  definition: StoredText,
  stages: z.number().int(),
  status: z.enum(WORKFLOW_STATUSES),
  status_reason: StatusReason.nullable().default(null),
  again: z.array(z.number().int()).default([]).describe('stages that are done again before anything else'),
  /** The number of stages at work, and of stages that are over, so that nobody has to count them. */
  open: z.number().int().default(0),
  over: z.number().int().default(0),
  failed: z.array(z.string()).default([]).describe('stages that failed and stopped it'),
  base_ref: limits.base_ref.describe('the commit from which stages start that do not start from the work of others'),
  tags: limits.tags,
  created_at: Timestamp,
  updated_at: Timestamp,
  ended_at: Timestamp.nullable().default(null),
})
export type Workflow = z.infer<typeof Workflow>

type RunsScripts = (agent: string) => boolean
/** The index of the stage that a reference means. */
type StageIndex = (ref: string | number, field: string) => number

/**
 * Checks a workflow as a person wrote it and fills in the defaults. A workflow that can never work is refused here,
 * before anything is made.
 */
export function decideStages(
  inputs: readonly StageInput[],
  runsScripts: RunsScripts = agent => agent === 'shell',
): Stage[] {
  const parsed = inputs.map(input => StageInput.parse(input))
  if (parsed.length === 0) throw new InvalidInput('stages', 'there are none')
  if (parsed.length > MAX_STAGES) throw new InvalidInput('stages', `a workflow has at most ${MAX_STAGES}`)
  const at = indexOf(parsed)
  const stages = parsed.map((stage, index) => decideStage(stage, `stages[${index}]`, at, runsScripts))
  const leadsOn = new Set(stages.flatMap(({ depends_on }) => depends_on))
  const decided = stages.map((stage, index) => ({
    ...stage,
    // By default the last stages land. A stage that chooses lets the winner land instead.
    lands: parsed[index]!.lands ?? (!leadsOn.has(index) && !stage.chooses),
  }))
  requireSound(decided)
  return decided
}

function indexOf(parsed: readonly z.output<typeof StageInput>[]): StageIndex {
  const places = new Map<string, number>()
  for (const [index, { name }] of parsed.entries()) {
    if (places.has(keyOf(name))) throw new InvalidInput(`stages[${index}].name`, `${name} is there twice`)
    if (/^[0-9]+$/.test(keyOf(name))) throw new InvalidInput(`stages[${index}].name`, 'must not be a number')
    places.set(keyOf(name), index)
  }
  return (ref, field) => {
    const index = typeof ref === 'number' ? ref : places.get(keyOf(ref))
    if (index === undefined || !parsed[index]) throw new InvalidInput(field, `there is no stage ${JSON.stringify(ref)}`)
    return index
  }
}

function decideStage(
  stage: z.output<typeof StageInput>,
  field: string,
  at: StageIndex,
  runsScripts: RunsScripts,
): Stage {
  const prompt = stage.prompt ?? stage.prompt_template
  if (!prompt) throw new InvalidInput(`${field}.prompt`, 'is missing')
  const depends_on = [...new Set(stage.depends_on.map(ref => at(ref, `${field}.depends_on`)))]
  const worktree = stage.worktree ?? stage.worktree_strategy ?? (depends_on.length ? 'inherit' : 'new')
  if (worktree === 'share' && depends_on.length !== 1)
    throw new InvalidInput(`${field}.worktree`, 'share needs exactly one stage to share with')
  const { on_failure, when } = stage
  return {
    name: stage.name,
    prompt,
    agent: stage.agent ?? stage.executor ?? null,
    script: runsScripts(stage.agent ?? stage.executor ?? ''),
    model: stage.model,
    effort: stage.effort ?? stage.reasoning_effort ?? null,
    type: stage.type ?? 'implement',
    worktree,
    depends_on,
    subdirectory: stage.subdirectory,
    acceptance_criteria: stage.acceptance_criteria,
    tool_preset: stage.tool_preset,
    approvals: stage.approvals,
    max_turns: stage.max_turns,
    max_budget_usd: stage.max_budget_usd,
    timeout_seconds: stage.timeout_seconds,
    retries: stage.retries,
    checked: stage.checked,
    lands: stage.lands ?? true,
    on_failure: typeof on_failure === 'object' ? { run: at(on_failure.run, `${field}.on_failure`) } : on_failure,
    when: when ? { ...when, stage: at(when.stage, `${field}.when`) } : null,
    chooses: stage.chooses?.map(ref => at(ref, `${field}.chooses`)) ?? null,
    asks: stage.asks,
    generation: 0,
  }
}

/** The stages before each stage: its dependencies, and the stages it replaces. */
function waysInto(stages: readonly Stage[]): number[][] {
  const ways = stages.map(stage => [...stage.depends_on])
  for (const [index, { on_failure }] of stages.entries())
    if (typeof on_failure === 'object') ways[on_failure.run]!.push(index)
  return ways
}

/** An order in which stages can start. Stages in a circle are left out. */
function inOrder(ways: readonly number[][]): number[] {
  const waits = ways.map(into => new Set(into))
  const after = ways.map((): number[] => [])
  for (const [index, into] of waits.entries()) for (const each of into) after[each]!.push(index)
  const order = waits.flatMap((into, index) => (into.size ? [] : [index]))
  for (const next of order)
    for (const each of after[next]!) {
      waits[each]!.delete(next)
      if (waits[each]!.size === 0) order.push(each)
    }
  return order
}

/**
 * Whether one stage is certainly over before another starts. One bit per pair, because a large graph has millions of
 * pairs.
 */
function precedence(ways: readonly number[][], order: readonly number[]): (one: number, other: number) => boolean {
  const words = Math.ceil(ways.length / 32)
  const before = ways.map(() => new Uint32Array(words))
  for (const index of order)
    for (const each of ways[index]!) {
      const [mine, its] = [before[index]!, before[each]!]
      for (let word = 0; word < words; word++) mine[word]! |= its[word]!
      mine[each >>> 5]! |= 1 << (each & 31)
    }
  return (one, other) => (before[other]![one >>> 5]! & (1 << (one & 31))) !== 0
}

function requireSound(stages: readonly Stage[]): void {
  const ways = waysInto(stages)
  const order = inOrder(ways)
  const begins = new Set(order)
  const circle = stages.findIndex((_, index) => !begins.has(index))
  if (circle !== -1)
    throw new InvalidInput(`stages[${circle}].depends_on`, `${stages[circle]!.name} would wait for itself`)
  const isBefore = precedence(ways, order)
  for (const [index, stage] of stages.entries()) {
    const field = `stages[${index}]`
    requireUnspliced(stages, stage, `${field}.prompt`)
    if (ways[index]!.length > stage.depends_on.length && stage.depends_on.length)
      throw new InvalidInput(`${field}.depends_on`, `${stage.name} runs when another fails, and waits for nothing else`)
    for (const { what, of } of needsOf(stages, stage, field))
      if (!isBefore(of, index))
        throw new InvalidInput(
          `${field}.${what}`,
          `${stages[of]!.name} is not over before ${stage.name}, so this can never have a value`,
          { try: `Add ${JSON.stringify(stages[of]!.name)} to its depends_on.` },
        )
  }
}

/** Which other stages a stage mentions, and where. */
function needsOf(stages: readonly Stage[], stage: Stage, field: string): { what: string; of: number }[] {
  const named: [string, Variable][] = isScriptStage(stage)
    ? [...mentionedIn(stage.prompt)].map(([name, variable]) => [`$${name}`, variable])
    : variablesIn(stage.prompt).map(variable => [writtenAs(variable), variable])
  const variables = named.flatMap(([name, variable]) => {
    if (variable.of === 'task') return []
    const of = stageCalled(stages, variable.stage)
    if (of === undefined) throw new InvalidInput(`${field}.prompt`, `${name} names no stage`)
    return [{ what: `prompt ${name}`, of }]
  })
  return [
    ...variables,
    ...(stage.when ? [{ what: 'when', of: stage.when.stage }] : []),
    ...(stage.chooses ?? []).map(of => ({ what: 'chooses', of })),
  ]
}

const writtenAs = (variable: Variable): string =>
  variable.of === 'task' ? '{task_prompt}' : `{stage_${variable.stage}_${variable.fact}}`

/** An earlier version did not store this, and had one agent that runs scripts. */
export const isScriptStage = ({ script, agent }: Pick<Stage, 'script' | 'agent'>): boolean =>
  script ?? agent === 'shell'

/** A value that others wrote is never put into the text of a script, where it would be run. */
export function requireUnspliced(stages: readonly Stage[], stage: Stage, field: string): void {
  if (!isScriptStage(stage)) return
  const [variable] = variablesIn(stage.prompt)
  if (!variable) return
  const name = nameOf(variable, variable.of === 'stage' ? stageCalled(stages, variable.stage) : undefined)
  throw new InvalidInput(
    field,
    `${writtenAs(variable)} cannot be used in a script: its value would run as a part of it`,
    {
      try: `Write "$${name}" instead: the value is in that variable, and all of it in the file $${name}_FILE.`,
    },
  )
}

/** By its number or its name, as in a variable. */
export function stageCalled(stages: readonly Stage[], key: string): number | undefined {
  const index = /^[0-9]+$/.test(key) ? Number(key) : stages.findIndex(({ name }) => keyOf(name) === key)
  return stages[index] ? index : undefined
}
