import * as z from 'zod'
import { enginesOf, printed } from '../agents/index.ts'
import { NotFound } from '../domain/errors.ts'
import { Engine } from '../domain/records/project.ts'
import { clipped } from '../domain/text.ts'
import { command } from './operation.ts'

const MOST_CHARS = 200

export const agentTest = [
  command({
    name: 'test_agent',
    may: 'system.operate',
    mcp: 'system',
    summary: 'Start the client of an agent to see that it runs; it only prints its version, so no model is called',
    http: 'POST /api/agents/:agent/test',
    input: z.object({ agent: z.string().min(1).max(60), engine: Engine.default('cli') }),
    output: z.object({ works: z.boolean(), text: z.string().describe('what was done and seen, in words') }),
    run: async ({ fleet }, { agent: name, engine }) => {
      const found = enginesOf(fleet.agents.all).find(each => each.agent.name === name && each.engine === engine)
      if (!found) throw new NotFound('agent', name, { try: 'fleet agents' })
      const { title } = found.agent
      const { installed, path, version, advice } = await found.agent.detect(fleet.environment)
      if (!installed) return { works: false, text: `${title} is not installed. ${advice ?? ''}`.trim() }
      // Only a client that is known to answer this and do nothing else is started.
      if (!path || !version)
        return { works: true, text: `${title} was found. It has no check that costs nothing, so it was not started.` }
      const { PATH = '', HOME = '' } = fleet.environment
      const began = performance.now()
      try {
        const said = clipped((await printed(path, ['--version'], { PATH, HOME })).trim(), MOST_CHARS)
        const took = Math.round(performance.now() - began)
        return { works: true, text: `${title} started and said “${said}” after ${took} ms. No model was called.` }
      } catch {
        return { works: false, text: `${title} did not start. Install it again: ${path} fails with --version.` }
      }
    },
  }),
]
