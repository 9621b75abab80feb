import { Button, Flex } from '@radix-ui/themes'
import { useEffect, useState } from 'react'
import { fillInNamed } from '../../../../src/domain/rules/template.ts'
import type { Output } from '../../api/client.ts'
import { useRunsScripts } from '../../kit/choosers.tsx'
import { ChoiceInput, TextInput } from '../../kit/fields.tsx'
import { useAsk } from '../../live/data.ts'
import type { Draft } from './new-draft.ts'

export type Template = Output<'get_template'>

interface TemplateFieldsProps {
  name: string | null
  choose(name: string | null): void
  fill(fields: Partial<Draft>, template: Template): void
}

/** Starts from a template, and asks for its variables. */
export function TemplateFields({ name, choose, fill }: TemplateFieldsProps) {
  const all = useAsk('list_templates', { limit: 200 }).data?.templates
  const runsScripts = useRunsScripts()
  // A script gets its values as environment variables, which this form cannot set. `fleet template use` can.
  const missions =
    all?.filter(
      ({ kind, settings, variables }) =>
        kind === 'mission' && !(variables.length && runsScripts(settings.agent as string | null)),
    ) ?? []
  const template = useAsk('get_template', { template: name ?? '' }, { enabled: name !== null }).data
  if (missions.length === 0) return null
  return (
    <>
      <ChoiceInput
        label="Use a template"
        value={name}
        set={choose}
        options={missions.map(each => each.name)}
        none="None"
      />
      {template && <Variables key={template.name} template={template} fill={fill} />}
    </>
  )
}

type VariablesProps = { template: Template } & Pick<TemplateFieldsProps, 'fill'>

function Variables({ template, fill }: VariablesProps) {
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(template.variables.map(each => [each.name, each.default ?? ''])),
  )
  const asks = template.variables.length > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: a template fills the fields once; text typed later stays
  useEffect(() => {
    if (!asks) fill(filled(template, {}), template)
  }, [])
  if (!asks) return null
  return (
    <Flex gap="3" align="end" wrap="wrap" className="wide">
      {template.variables.map(({ name }) => (
        <TextInput
          key={name}
          label={name}
          value={values[name] ?? ''}
          set={value => setValues(before => ({ ...before, [name]: value }))}
        />
      ))}
      <Button
        type="button"
        variant="soft"
        disabled={template.variables.some(({ name }) => !values[name])}
        onClick={() => fill(filled(template, values), template)}
      >
        Fill in
      </Button>
    </Flex>
  )
}

function filled({ settings, prompt }: Template, values: Record<string, string>): Partial<Draft> {
  const put = (text: unknown): string => (typeof text === 'string' ? fillInNamed(text, values) : '')
  return {
    ...(settings as Partial<Draft>),
    title: put(settings.title),
    acceptance_criteria: put(settings.acceptance_criteria),
    append_system_prompt: put(settings.append_system_prompt),
    detailed_prompt: put(prompt),
  }
}
