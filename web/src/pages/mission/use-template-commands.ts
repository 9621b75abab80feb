import { useAsk } from '../../live/data.ts'
import type { PromptCommand } from './prompt-box.tsx'

/** `/template` with the name of each template of a mission. */
export function useTemplateCommands(use: (name: string) => void): PromptCommand[] {
  const templates = useAsk('list_templates', { limit: 200 }).data?.templates ?? []
  return templates
    .filter(({ kind }) => kind === 'mission')
    .map(({ name, settings }) => ({
      name: `template ${name}`,
      about: typeof settings.title === 'string' ? settings.title : '',
      run: () => use(name),
    }))
}
