import * as z from 'zod'
import { MAX_PLANNED, PlanAnswer } from '../records/plan.ts'

/** The form of a planner's answer. Clients that can enforce a schema get it too. */
export const ANSWER_SCHEMA = (({ $schema, ...schema }) => schema)(
  z.toJSONSchema(PlanAnswer, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>,
)

export interface Planning {
  goal: string
  agents: readonly string[]
  /** Set in a loop: what the earlier rounds did, and whether the planner may say that everything is done. */
  loop: { round: number; of: number; history: string } | null
}

/** Everything a planner is told. */
export function planningPrompt({ goal, agents, loop }: Planning): string {
  return [
    'You are planning work for a fleet of coding agents. Change nothing: look at this repository, then answer with a plan.',
    `## ${loop ? 'The goal' : 'What to build'}\n\n${goal}`,
    loop && `## Where it stands\n\nThis is round ${loop.round} of at most ${loop.of}.\n\n${loop.history}`,
    loop &&
      '## Is it complete?\n\nLook at what is really there, not at what was reported. If the goal is reached and nothing is left to do, answer with "complete": true, a "reason" that says what you looked at, and no missions. It is then checked. Otherwise plan what is missing.',
    [
      '## How to plan',
      `- Each mission is one piece of work for one agent in a worktree of its own; at most ${MAX_PLANNED}, better few.`,
      '- Its agent sees the repository, its own prompt and the reports of the missions it depends on, and nothing of this plan. Write each prompt so that it is enough: which files, which behaviour, how to check.',
      '- `depends_on` names the keys of the missions whose work it needs. Missions that do not depend on each other run at the same time and must not change the same lines. One mission may depend on several. No circles.',
      '- `acceptance_criteria` say how to tell that it is done.',
      `- \`agent\` may be one of ${agents.join(', ')}; leave it out for the project's own.${agents.includes('shell') ? ' With shell the prompt is a script for /bin/sh.' : ''}`,
      '- `estimate_minutes` and `estimate_usd` are your honest guess.',
    ].join('\n'),
    `## Your answer\n\nOne JSON object and nothing else, of this schema:\n\n${JSON.stringify(ANSWER_SCHEMA)}`,
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** What a planner is told when its answer cannot be used. */
export const answerAgain = (problem: string): string =>
  `Your answer cannot be used. ${problem} Answer again with the whole JSON object, once, and nothing else.`
