import { fieldsOf, isTemplate } from './addresses.ts'
import { type Answers, type Asking, answering, type Sdk } from './answering.ts'
import { CODES, rpcError } from './errors.ts'
import type { Resource } from './offer.ts'

export function resourceAnswers(sdk: Sdk, resources: readonly Resource[], { caller }: Asking): Answers {
  const shown = ({ name, summary, mimeType }: Resource) => ({ name, description: summary, mimeType })
  const templates = resources.filter(isTemplate)
  const fixed = resources.filter(resource => !isTemplate(resource))
  const listable = templates.filter(({ list }) => list)

  return {
    'resources/templates/list': answering(sdk.ListResourceTemplatesRequestSchema, () => ({
      resourceTemplates: templates.map(resource => ({ uriTemplate: resource.uri, ...shown(resource) })),
    })),

    // Each answer is one page of one template. The cursor names the template and the place in it.
    'resources/list': answering(sdk.ListResourcesRequestSchema, async params => {
      const [at = '0', ...inner] = (params?.cursor ?? '').split(':')
      const template = listable[Number(at)]
      const first = params?.cursor ? [] : fixed.map(resource => ({ uri: resource.uri, ...shown(resource) }))
      if (!template) return { resources: first }
      const page = await template.list!(caller, inner.join(':') || undefined)
      const { mimeType } = template
      const following = Number(at) + 1 < listable.length && `${Number(at) + 1}:`
      const next = page.cursor ? `${Number(at)}:${page.cursor}` : following
      return {
        resources: [...first, ...page.items.map(item => ({ mimeType, ...item }))],
        ...(next && { nextCursor: next }),
      }
    }),

    'resources/read': answering(sdk.ReadResourceRequestSchema, async ({ uri }) => {
      for (const resource of resources) {
        const fields = fieldsOf(resource.uri, uri)
        if (!fields) continue
        const found = await resource.read(caller, fields)
        const { mimeType } = resource
        const content = typeof found === 'string' ? { text: found } : { blob: found.toString('base64') }
        return { contents: [{ uri, mimeType, ...content }] }
      }
      throw rpcError(CODES.resourceNotFound, `There is no resource ${uri}.`)
    }),
  }
}
