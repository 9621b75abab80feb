import * as z from 'zod'
import { InvalidInput } from '../errors.ts'
import type { StageInput } from '../records/workflow.ts'

/** What a ready-made workflow is made from. */
export const Recipe = z.object({
  agents: z.array(z.string().min(1).max(40)).max(20).default([]).describe('the agents of the stages, in order'),
  models: z.array(z.string().min(1).max(120)).max(20).default([]).describe('one for each agent'),
  items: z.array(z.string().min(1).max(20_000)).max(500).default([]).describe('for map: one stage for each'),
})
export type Recipe = z.infer<typeof Recipe>

interface ReadyMade {
  summary: string
  stages(recipe: Recipe): StageInput[]
}

const by = ({ agents, models }: Recipe, place: number): Pick<StageInput, 'agent' | 'model'> => ({
  agent: agents[place] ?? null,
  model: models[place] ?? null,
})

const REVIEW = `Review the work in this worktree. Change nothing. It was made for this task:

{task_prompt}

Say what is wrong or missing, most important first, each with its file and place. Say plainly if it is good as it is.`

/** Workflows that most people want, made from a task and a few names. */
export const LIBRARY: Record<string, ReadyMade> = {
  'write-review-refine': {
    summary: 'one agent writes, a second reviews, a third improves it; only the last lands',
    stages: recipe => [
      { name: 'write', prompt: '{task_prompt}', ...by(recipe, 0) },
      {
        name: 'review',
        prompt: REVIEW,
        type: 'review',
        tool_preset: 'review',
        depends_on: ['write'],
        ...by(recipe, 1),
      },
      {
        name: 'refine',
        prompt:
          'The task was:\n\n{task_prompt}\n\nYour worktree holds a first version. A review of it says:\n\n{stage_review_summary}\n\nMake it good: mend what the review is right about, and say why where it is not. If nothing needs to change, say so.',
        depends_on: ['write', 'review'],
        ...by(recipe, 2),
      },
    ],
  },
  'fan-out-and-review': {
    summary: 'each agent does the task in its own way, and one more puts the best of all together',
    stages: recipe => {
      const writers = recipe.agents.slice(0, -1)
      if (writers.length < 2) throw new InvalidInput('agents', 'name at least two who write and one who reviews')
      return [
        ...writers.map((_, place) => ({ name: `way ${place + 1}`, prompt: '{task_prompt}', ...by(recipe, place) })),
        {
          name: 'review',
          prompt: `The task was:\n\n{task_prompt}\n\nIt was done in several ways, each on a branch of its own:\n\n${writers
            .map((_, i) => `- {stage_way_${i + 1}_branch}: {stage_way_${i + 1}_summary}`)
            .join('\n')}\n\nLook at each with git diff, and do the task with the best of all of them.`,
          worktree: 'new',
          depends_on: writers.map((_, place) => place),
          ...by(recipe, writers.length),
        },
      ]
    },
  },
  'competition-and-judge': {
    summary: 'several agents do the same task; the checks and a judge decide, and only the winner lands',
    stages: recipe => {
      const rivals = recipe.agents.slice(0, -1)
      if (rivals.length < 2) throw new InvalidInput('agents', 'name at least two who compete and one who judges')
      const names = rivals.map((agent, place) => `${agent} ${place + 1}`)
      return [
        ...rivals.map((_, place) => ({
          name: names[place]!,
          prompt: '{task_prompt}',
          checked: true,
          on_failure: 'continue' as const,
          ...by(recipe, place),
        })),
        {
          name: 'judge',
          prompt: `Several did this task:\n\n{task_prompt}\n\nEach on a branch of its own:\n\n${names
            .map((name, i) => `- ${name} ({stage_${i}_status}), branch {stage_${i}_branch}: {stage_${i}_summary}`)
            .join(
              '\n',
            )}\n\nLook at each with git diff. Change nothing. One that failed cannot win. End with one line:\nwinner: <name>`,
          type: 'review',
          tool_preset: 'review',
          worktree: 'new',
          depends_on: names,
          chooses: names,
          ...by(recipe, rivals.length),
        },
      ]
    },
  },
  map: {
    summary: 'the same task for each item of a list, all at once; each lands by itself',
    stages: recipe => {
      if (recipe.items.length === 0) throw new InvalidInput('items', 'name at least one item')
      return recipe.items.map((item, place) => ({
        name: `item ${place + 1}`,
        prompt: `{task_prompt}\n\n${item}`,
        ...by(recipe, recipe.agents.length ? place % recipe.agents.length : 0),
      }))
    },
  },
  'spec-driven': {
    summary: 'clarify, write a design, have it approved by you, tests first, implement, verify',
    stages: recipe => [
      {
        name: 'clarify',
        prompt:
          'Read this task and the repository. Change nothing. Say what is asked for, what is unclear, and what you assume where nobody can be asked:\n\n{task_prompt}',
        type: 'explore',
        tool_preset: 'explore',
        ...by(recipe, 0),
      },
      {
        name: 'design',
        prompt:
          'Write a design for this task into docs/design/, one page: what changes, where, how it is tested, what is left out.\n\n{task_prompt}\n\nWhat is known of it:\n\n{stage_clarify_summary}',
        depends_on: ['clarify'],
        lands: 'review',
        ...by(recipe, 0),
      },
      {
        name: 'tests',
        prompt:
          'Write the tests that the design in docs/design/ asks for. They must fail for now. Implement nothing.\n\n{task_prompt}',
        depends_on: ['design'],
        ...by(recipe, 1),
      },
      {
        name: 'implement',
        prompt:
          'Make the new tests pass as the design in docs/design/ says. Do not weaken a test.\n\n{task_prompt}\n\nThe tests:\n{stage_tests_files}',
        depends_on: ['tests'],
        ...by(recipe, 2),
      },
      {
        name: 'verify',
        prompt:
          'Compare what was made with the design in docs/design/ and the task. Run the tests. Mend what is wrong.\n\n{task_prompt}\n\nWhat was done:\n\n{stage_implement_summary}',
        depends_on: ['implement'],
        ...by(recipe, 3),
      },
    ],
  },
}

export function readyMade(name: string, recipe: Recipe): StageInput[] {
  const found = LIBRARY[name]
  if (!found)
    throw new InvalidInput('use', `there is no ready-made workflow ${JSON.stringify(name)}`, {
      try: `One of ${Object.keys(LIBRARY).join(', ')}.`,
    })
  return found.stages(recipe)
}
