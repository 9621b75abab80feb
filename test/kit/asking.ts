import type { Question } from '../../src/domain/records/talk.ts'
import { questionId, raiseQuestion } from '../../src/fleet/questions/questions.ts'
import { current } from '../../src/fleet/records.ts'
import { anAgentAtWork } from './inside.ts'
import type { Scene } from './scene.ts'

/** A running agent whose client asks for permission, as often as needed, and the result of each. */
export async function aClientThatAsks(scene: Scene, settings: object = {}) {
  const fleet = scene.fleet.fleet
  const agent = await anAgentAtWork(scene, settings)
  const { value: session } = await current(fleet, 'sessions', agent.session)
  let asked = 0
  const asksLeave = async (input: object = { command: `touch p${asked}` }, tool = 'Bash'): Promise<string> => {
    const id = `p${++asked}`
    await raiseQuestion(fleet, session, { type: 'permission', id, tool, input, denied: false })
    return questionId(session.id, id)
  }
  const asksWords = async (text: string): Promise<string> => {
    const id = `q${++asked}`
    await raiseQuestion(fleet, session, { type: 'question', id, text })
    return questionId(session.id, id)
  }
  const stands = async (id: string): Promise<Question> => (await current(fleet, 'questions', id)).value
  return { ...agent, asksLeave, asksWords, stands }
}
