import type { Elicit } from '../../operations/operation.ts'
import { jsonSchema, parseInput, withoutNulls } from '../../operations/shape.ts'
import { type Answers, type Asking, answering, type Sdk, type Send } from './answering.ts'
import { CODES, inWords, rpcError } from './errors.ts'
import type { Tool } from './offer.ts'

export function toolAnswers(sdk: Sdk, tools: readonly Tool[], asking: Asking, send: Send): Answers {
  const { caller, explain, closing, key, requests } = asking
  return {
    'tools/list': answering(sdk.ListToolsRequestSchema, () => ({ tools: tools.map(described) })),
    'tools/call': answering(sdk.CallToolRequestSchema, async (params, extra) => {
      const { sendNotification } = extra
      const tool = tools.find(({ name }) => name === params.name)
      if (!tool) {
        await asking.notOffered(params.name)
        throw rpcError(CODES.invalidParams, `There is no tool ${params.name}.`)
      }
      const progressToken = params._meta?.progressToken
      const signal = AbortSignal.any([extra.signal, closing])
      const elicit: Elicit = async ({ message, ...form }, patience) => {
        const requestedSchema = { type: 'object', ...form }
        const params = { mode: 'form', message, requestedSchema }
        const until = AbortSignal.any([signal, patience])
        const reply = await requests.ask(each => send(each, extra), 'elicitation/create', params, until)
        return reply?.action === 'accept' ? (reply.content as Record<string, unknown>) : undefined
      }
      try {
        const given = (params.arguments ?? {}) as Record<string, unknown>
        const ours = tool.asOurs?.(given) ?? given
        const answer = await tool.run(caller, parseInput(tool, withoutNulls(tool, ours)), {
          key,
          from: asking.from,
          signal,
          ...(tool.long && asking.showsForms && { elicit }),
          progress: ({ done, total, message }) => {
            if (progressToken === undefined) return
            const notice = { progressToken, progress: done, total, message }
            // The signal says that a client is gone.
            sendNotification({ method: 'notifications/progress', params: notice }).catch(() => {})
          },
        })
        return { content: contentOf(answer) }
      } catch (error) {
        const { body } = explain(error, `the tool ${tool.name}`)
        return { isError: true, content: contentOf(inWords(body.error)) }
      }
    }),
  }
}

const descriptions = new WeakMap<Tool, object>()

function described(tool: Tool): object {
  const known = descriptions.get(tool)
  if (known) return known
  const { name, summary, input, readOnly = false } = tool
  const description = {
    name,
    description: summary,
    inputSchema: { ...input.meta(), type: 'object', ...jsonSchema(input, 'input') },
    annotations: { readOnlyHint: readOnly },
  }
  descriptions.set(tool, description)
  return description
}

function contentOf(answer: unknown): unknown[] {
  if (Array.isArray(answer)) return answer
  return [{ type: 'text', text: typeof answer === 'string' ? answer : JSON.stringify(answer) }]
}
