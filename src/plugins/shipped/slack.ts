import { post } from '../../platform/posting.ts'
import type { Plugin } from '../plugin.ts'
import { address, isWanted, sentenceOf } from '../wanted.ts'

const MAX_CHARS = 3000
/** Escaped for Slack, so that nothing in a title becomes a link or a mention. */
const plain = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').slice(0, MAX_CHARS)

export default {
  description: 'Posts to a Slack channel, through your incoming webhook.',

  start({ settings }) {
    address(settings, 'url')
  },

  hooks: {
    async on_event(told, { settings }) {
      if (!isWanted(settings, told)) return
      await post({
        url: address(settings, 'url'),
        body: JSON.stringify({ text: plain(sentenceOf(told)) }),
        allowPrivate: settings.allow_private === true,
      })
    },
  },
} satisfies Plugin
