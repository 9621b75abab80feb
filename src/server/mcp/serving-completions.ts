import { type Answers, type Asking, answering, type Sdk } from './answering.ts'
import { CODES, rpcError } from './errors.ts'
import type { Complete, Offer } from './offer.ts'

/** The limit of the protocol. */
const MAX_COMPLETIONS = 100

type Ref = { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }

/** For the arguments of prompts and the fields of resource templates. */
export function completionAnswers(sdk: Sdk, offer: Offer, { caller }: Asking): Answers {
  return {
    'completion/complete': answering(sdk.CompleteRequestSchema, async ({ ref, argument }) => {
      const complete = completeOf(offer, ref as Ref, argument.name)
      const found = (await complete?.(caller, argument.value)) ?? []
      const values = found.slice(0, MAX_COMPLETIONS)
      return { completion: { values, total: found.length, hasMore: found.length > MAX_COMPLETIONS } }
    }),
  }
}

function completeOf({ prompts = [], resources = [] }: Offer, ref: Ref, argument: string): Complete | undefined {
  if (ref.type === 'ref/prompt') {
    const prompt = prompts.find(({ name }) => name === ref.name)
    if (!prompt) throw rpcError(CODES.invalidParams, `There is no prompt ${ref.name}.`)
    return prompt.arguments.find(({ name }) => name === argument)?.complete
  }
  const resource = resources.find(({ uri }) => uri === ref.uri)
  if (!resource) throw rpcError(CODES.invalidParams, `There is no resource template ${ref.uri}.`)
  return resource.complete?.[argument]
}
