import * as z from 'zod'

export const FIELD_KINDS = ['text', 'url', 'secret', 'switch', 'number', 'list', 'events', 'project'] as const

/** One setting of a plugin, as a form shows it. Its value is in `plugins/<name>.json` of the home. */
export const PluginField = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,59}$/, 'lower-case letters, digits and _, at most 60'),
  label: z.string().min(1).max(100),
  hint: z.string().max(500).default(''),
  placeholder: z.string().max(200).default(''),
  kind: z
    .enum(FIELD_KINDS)
    .describe('secret: a text that is never shown again; events: kinds of events; project: the id of one'),
  required: z.boolean().default(false),
  min: z.number().optional(),
  max: z.number().optional(),
})
export type PluginField = z.infer<typeof PluginField>

const field = (
  name: string,
  kind: PluginField['kind'],
  label: string,
  more: Partial<PluginField> = {},
): PluginField => ({ name, kind, label, hint: '', placeholder: '', required: false, ...more })

const EVENTS = field('events', 'events', 'Events')
const PRIVATE = field('allow_private', 'switch', 'Allow private addresses', {
  hint: 'Also send to this machine and to private networks.',
})

/** The settings of the plugins that come with the fleet. They can be filled in before a plugin is loaded. */
export const SHIPPED_FIELDS: Readonly<Record<string, readonly PluginField[]>> = {
  desktop: [EVENTS],
  webhook: [
    field('url', 'url', 'Address', { required: true, placeholder: 'https://example.org/hook' }),
    field('secret', 'secret', 'Secret', { required: true, hint: 'Signs each message, so that you can verify it.' }),
    EVENTS,
    PRIVATE,
  ],
  slack: [
    // Whoever knows the address can post.
    field('url', 'secret', 'Address of the incoming webhook', {
      required: true,
      placeholder: 'https://hooks.slack.com/services/…',
    }),
    EVENTS,
    PRIVATE,
  ],
  telegram: [
    field('token', 'secret', 'Token of the bot', { required: true, hint: 'BotFather gives it to you.' }),
    field('chats', 'list', 'Chats', {
      required: true,
      hint: 'Numbers of the chats it talks to, one per line. Everyone who can write there can answer questions.',
    }),
    field('deciders', 'list', 'Who decides about permissions', {
      placeholder: '12345=owner',
      hint: 'The number of a chat with one person, and who that is: owner, or the name or id of a person. One per line.',
    }),
    EVENTS,
  ],
  github: [
    field('repo', 'text', 'Repository', { required: true, placeholder: 'owner/name' }),
    field('project', 'project', 'Project', { required: true, hint: 'Where its issues become missions.' }),
    field('label', 'text', 'Label', { placeholder: 'flotilla', hint: 'Only issues with this label are taken.' }),
    field('every_seconds', 'number', 'Look every (seconds)', { min: 5, max: 86_400 }),
    field('dispatch', 'switch', 'Start missions at once', {
      hint: 'Otherwise they are drafts. Anyone who may set the label decides what an agent does.',
    }),
  ],
}
