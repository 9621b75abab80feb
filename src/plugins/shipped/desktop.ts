import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Plugin } from '../plugin.ts'
import { isWanted, sentenceOf } from '../wanted.ts'

const MAX_CHARS = 300
const LIMIT_MS = 10_000
const run = promisify(execFile)

// The text is passed as arguments of the script, never as part of it.
const ON_MAC = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run']

/** The program that shows a notification on this system, and its arguments. */
const noteWith = (title: string, text: string): [string, string[]] =>
  process.platform === 'darwin'
    ? ['osascript', [...ON_MAC.flatMap(line => ['-e', line]), title, text]]
    : ['notify-send', ['--app-name=Flotilla', '--', title, text]]

export default {
  description: 'Shows notifications on your desktop (notify-send, or osascript on a Mac).',
  hooks: {
    async on_event(told, { settings }) {
      if (!isWanted(settings, told)) return
      const [program, args] = noteWith('Flotilla', sentenceOf(told).slice(0, MAX_CHARS))
      await run(program, args, { timeout: LIMIT_MS })
    },
  },
} satisfies Plugin
