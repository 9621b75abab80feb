import type { Report } from '../../domain/records/report.ts'
import { clipped } from '../../domain/text.ts'
import type { Ask } from '../../operations/aliases/index.ts'
import type { MissionView } from '../../operations/views.ts'
import { completionsOf } from './completions.ts'
import type { Prompt } from './offer.ts'

const DIFF_CHARS = 60_000

/** Prompts that a person may pick in their client. */
export function outsidePrompts(ask: Ask): Prompt[] {
  const { projects, missions } = completionsOf(ask)
  return [
    {
      name: 'plan',
      summary: 'Split a goal into missions and start them',
      arguments: [
        { name: 'goal', description: 'what to build', required: true },
        {
          name: 'project',
          description: 'the name or id of the project, or the path of its repository',
          complete: projects,
        },
      ],
      write: async (_, { goal, project }) =>
        `Plan this with the fleet: ${goal}

${project ? `The project is ${project}.` : 'Find the project with list_projects, or make one with create_project.'}
Look at the repository first. Split the work into missions that can each be done, checked and landed by one agent that sees nothing of this conversation: give every mission a complete prompt and acceptance criteria. Let missions that touch different files run at once, and use depends_on where one needs the result of another. Show me the plan as a list and wait for my word; then create the missions with auto_dispatch, follow them with wait_for_mission, and tell me what each report says.`,
    },
    {
      name: 'review',
      summary: 'Review what a mission changed',
      arguments: [{ name: 'mission_id', description: 'which mission', required: true, complete: missions }],
      write: async (_, { mission_id }) => {
        const mission = await ask<MissionView & { report: Report | null }>('get_mission', { mission_id })
        const { text } = await ask<{ text: string }>('diff_mission', { mission_id })
        return `Review the work of mission ${mission.id}, "${mission.title}" (${mission.status}).

It was asked for this:
${mission.detailed_prompt}
${mission.acceptance_criteria && `\nIt is done when:\n${mission.acceptance_criteria}\n`}
Its agent says: ${mission.report?.summary || 'nothing'}

What git says it changed:
\`\`\`diff
${clipped(text, DIFF_CHARS)}
\`\`\`

Say whether it does what was asked, what is wrong or missing, and what could break. Name file and line.`
      },
    },
    {
      name: 'status',
      summary: 'Summarise the state of the fleet',
      arguments: [],
      write: async () =>
        'Ask the fleet for its dashboard (get_dashboard) and tell me in a few lines what runs, what waits for me and what failed, with the ids I need to act on it.',
    },
  ]
}
