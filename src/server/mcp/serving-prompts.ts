import { type Answers, type Asking, answering, type Sdk } from './answering.ts'
import { CODES, rpcError } from './errors.ts'
import type { Prompt } from './offer.ts'

export function promptAnswers(sdk: Sdk, prompts: readonly Prompt[], { caller }: Asking): Answers {
  return {
    'prompts/list': answering(sdk.ListPromptsRequestSchema, () => ({
      prompts: prompts.map(prompt => ({
        name: prompt.name,
        description: prompt.summary,
        arguments: prompt.arguments.map(({ complete, ...argument }) => argument),
      })),
    })),
    'prompts/get': answering(sdk.GetPromptRequestSchema, async params => {
      const prompt = prompts.find(({ name }) => name === params.name)
      if (!prompt) throw rpcError(CODES.invalidParams, `There is no prompt ${params.name}.`)
      const given = params.arguments ?? {}
      const missing = prompt.arguments.find(({ name, required }) => required && !given[name])
      if (missing) throw rpcError(CODES.invalidParams, `The argument ${missing.name} is missing.`)
      const written = await prompt.write(caller, given)
      return { description: prompt.summary, messages: typeof written === 'string' ? [userSays(written)] : written }
    }),
  }
}

const userSays = (text: string): object => ({ role: 'user', content: { type: 'text', text } })
