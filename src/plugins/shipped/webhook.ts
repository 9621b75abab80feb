import { createHmac } from 'node:crypto'
import { post } from '../../platform/posting.ts'
import type { Plugin } from '../plugin.ts'
import { address, isWanted, text } from '../wanted.ts'

export default {
  description: 'Sends signed events to your own address, with retries.',

  start({ settings }) {
    address(settings, 'url')
    text(settings, 'secret')
    isWanted(settings, { event: { kind: '' } as never, mission: null })
  },

  hooks: {
    async on_event(told, { settings }) {
      if (!isWanted(settings, told)) return
      const body = JSON.stringify(told)
      const timestamp = String(Math.floor(Date.now() / 1000))
      const signature = createHmac('sha256', text(settings, 'secret')).update(`${timestamp}.${body}`).digest('hex')
      await post({
        url: address(settings, 'url'),
        body,
        headers: {
          // The same for every try, and for an event that is repeated after a crash.
          'x-flotilla-delivery': told.event.cursor,
          'x-flotilla-timestamp': timestamp,
          'x-flotilla-signature': `sha256=${signature}`,
        },
        allowPrivate: settings.allow_private === true,
      })
    },
  },
} satisfies Plugin
