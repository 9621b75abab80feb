import { Button, Card, CheckboxGroup, Flex, Heading, IconButton, Text } from '@radix-ui/themes'
import { Trash2, X } from 'lucide-react'
import { KINDS } from '../../kit/choices.ts'
import { AgentChooser, useRunsScripts } from '../../kit/choosers.tsx'
import { ChoiceInput, LongTextInput, NumberInput, TextInput } from '../../kit/fields.tsx'
import { plain } from '../../kit/plain.ts'
import { changed, type Planned, reaches, removed } from './editing.ts'

interface MissionEditorProps {
  mission: Planned
  plan: Planned[]
  /** Undefined: read-only. */
  set: ((plan: Planned[]) => void) | undefined
  close(): void
}

/** One mission of a plan, beside the graph. */
export function MissionEditor({ mission, plan, set, close }: MissionEditorProps) {
  const { key, title, prompt, acceptance_criteria, mission_type, agent, model, priority, depends_on } = mission
  const isScript = useRunsScripts()(agent)
  const put =
    <K extends keyof Planned>(field: K) =>
    (value: Planned[K]) =>
      set?.(changed(plan, key, { [field]: value }))
  const disabled = set === undefined
  const others = plan.filter(other => other.key !== key && !reaches(plan, other.key, key))
  return (
    <Card className="plan-editor">
      <Flex direction="column" gap="3">
        <Flex justify="between" align="center">
          <Heading as="h2" size="3">
            {key}
          </Heading>
          <IconButton variant="ghost" color="gray" aria-label="Close" onClick={close}>
            <X size={16} />
          </IconButton>
        </Flex>
        <TextInput label="Title" value={title} set={put('title')} disabled={disabled} />
        <LongTextInput
          label={isScript ? 'Script' : 'Prompt'}
          code={isScript}
          hint={
            isScript
              ? '/bin/sh runs it exactly as written'
              : 'the agent gets only this text, and nothing else of the plan'
          }
          value={prompt}
          set={put('prompt')}
          rows={8}
          disabled={disabled}
        />
        <LongTextInput
          label="Done when"
          value={acceptance_criteria}
          set={put('acceptance_criteria')}
          rows={3}
          disabled={disabled}
        />
        <AgentChooser value={agent} set={put('agent')} none="Project default" disabled={disabled} />
        <TextInput label="Model" value={model ?? ''} set={text => put('model')(text || null)} disabled={disabled} />
        <ChoiceInput
          label="Type"
          value={mission_type}
          set={type => type && put('mission_type')(type as Planned['mission_type'])}
          options={KINDS}
          disabled={disabled}
        />
        <NumberInput
          label="Priority"
          hint="Higher starts first"
          value={priority}
          set={value => put('priority')(value ?? 0)}
          disabled={disabled}
        />
        {others.length > 0 && (
          <Flex direction="column" gap="1">
            <Text size="2" weight="medium" id={`${key}-after`}>
              Waits for
            </Text>
            <CheckboxGroup.Root
              aria-labelledby={`${key}-after`}
              value={depends_on}
              onValueChange={put('depends_on')}
              disabled={disabled}
            >
              {others.map(other => (
                <CheckboxGroup.Item key={other.key} value={other.key}>
                  {plain(other.title)}
                </CheckboxGroup.Item>
              ))}
            </CheckboxGroup.Root>
          </Flex>
        )}
        {set && plan.length > 1 && (
          <Button
            variant="soft"
            color="red"
            highContrast
            onClick={() => {
              set(removed(plan, key))
              close()
            }}
          >
            <Trash2 size={14} /> Remove from the plan
          </Button>
        )}
      </Flex>
    </Card>
  )
}
