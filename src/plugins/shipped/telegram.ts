import { setTimeout as passed } from 'node:timers/promises'
import { type Answered, post } from '../../platform/posting.ts'
import type { FleetApi, Plugin, Question } from '../plugin.ts'
import { address, isWanted, list, sentenceOf, text } from '../wanted.ts'

const OFFICIAL = 'https://api.telegram.org'
/** How long Telegram keeps a request open until there is a message. */
const WAIT_SECONDS = 25
const MAX_CHARS = 3500
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
/** Strangers get no answer; the first few are logged, so that you can find the number of your own chat. */
const MAX_STRANGERS_LOGGED = 20

type Settings = FleetApi['settings']

interface Message {
  chat: { id: number; type?: string }
  from?: { id: number }
  text?: string
  reply_to_message?: { text?: string }
}

interface Update {
  update_id: number
  message?: Message
}

const chatsIn = (settings: Settings): string[] => list(settings, 'chats', [])

function ask(settings: Settings, method: string, body: object, more: { limitMs?: number; tries?: number } = {}) {
  const server = settings.api === undefined ? OFFICIAL : address(settings, 'api')
  const url = `${server}/bot${text(settings, 'token')}/${method}`
  return post({ url, body: JSON.stringify(body), allowPrivate: settings.allow_private === true, ...more })
}

const say = (settings: Settings, chat: string | number, words: string): Promise<Answered> =>
  ask(settings, 'sendMessage', { chat_id: chat, text: words })

async function sayToAll(settings: Settings, words: string): Promise<void> {
  for (const chat of chatsIn(settings)) await say(settings, chat, words)
}

// A reply contains the message it replies to, so nothing about the question has to be stored.
const asMessage = (title: string, { id, kind, tool, text: asked }: Question): string =>
  `${title} asks${kind === 'permission' ? ` to use ${tool}` : ''}:\n${asked.slice(0, MAX_CHARS)}\n\nReply to this message${kind === 'permission' ? ' with yes or no' : ''}. [${id}]`
const askedIn = (message: string | undefined): string | undefined => /\[([0-9a-z]+)\]$/.exec(message ?? '')?.[1]

interface AnsweredQuestion {
  kind: Question['kind']
  answer: { decision: 'allow' | 'deny' } | null
}

/**
 * Who answers in a chat with the bot alone is the person whose chat it is: Telegram says so, and whoever set the plugin
 * up named the chat. In a group, anybody who is let in could answer.
 */
const isOnePerson = ({ chat, from }: Message): boolean => chat.type === 'private' && from?.id === chat.id

async function answer(fleet: FleetApi, message: Message & { text: string }): Promise<string> {
  const words = message.text
  const id = askedIn(message.reply_to_message?.text)
  if (!id) return 'Reply to the message with the question.'
  const { questions } = await fleet.call<{ questions: Question[] }>('list_inbox', { limit: 500 })
  const question = questions.find(each => each.id === id)
  if (!question) return 'This question is no longer open.'
  if (question.kind === 'permission' && !isOnePerson(message))
    return 'A permission is decided by one person: answer in your own chat with this bot, or on the page.'
  const account = String(message.from?.id)
  const said = question.kind === 'permission' ? { decision: words, account } : { text: words }
  return fleet.call<AnsweredQuestion>('answer_question', { question_id: id, ...said }).then(
    ({ kind, answer }) => (kind !== 'permission' ? 'Told.' : answer?.decision === 'allow' ? 'Allowed.' : 'Denied.'),
    (error: Error) => error.message,
  )
}

async function listen(fleet: FleetApi): Promise<never> {
  const { settings } = fleet
  const strangers = new Set<number>()
  let offset = 0
  let pause = FIRST_PAUSE_MS
  for (;;) {
    try {
      const wanted = { offset, timeout: WAIT_SECONDS, allowed_updates: ['message'] }
      const { text: said } = await ask(settings, 'getUpdates', wanted, {
        limitMs: (WAIT_SECONDS + 10) * 1000,
        tries: 1,
      })
      pause = FIRST_PAUSE_MS
      for (const { update_id, message } of (JSON.parse(said) as { result: Update[] }).result) {
        const { text: words } = message ?? {}
        if (message && words && chatsIn(settings).includes(String(message.chat.id)))
          await say(settings, message.chat.id, await answer(fleet, { ...message, text: words }))
        else if (message && !strangers.has(message.chat.id) && strangers.size < MAX_STRANGERS_LOGGED) {
          strangers.add(message.chat.id)
          fleet.log(`The chat ${message.chat.id} is not in "chats" and is ignored.`)
        }
        offset = update_id + 1
      }
    } catch (error) {
      if (pause === FIRST_PAUSE_MS) fleet.log(`Telegram does not answer: ${(error as Error).message}`)
      await passed(pause)
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    }
  }
}

export default {
  description: 'Tells you on Telegram what happens, and takes your answers to questions of agents.',

  start(fleet) {
    text(fleet.settings, 'token')
    if (chatsIn(fleet.settings).length === 0) throw new Error('"chats" in its settings is empty.')
    void listen(fleet)
  },

  hooks: {
    on_question: ({ mission, question }, { settings }) =>
      sayToAll(settings, asMessage(mission?.title ?? 'An agent', question)),

    async on_event(told, { settings }) {
      if (told.event.kind !== 'asked' && isWanted(settings, told)) await sayToAll(settings, sentenceOf(told))
    },
  },
} satisfies Plugin
