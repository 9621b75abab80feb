import { execFileSync } from 'node:child_process'

const isInstalled = (() => {
  try {
    execFileSync('tmux', ['-V'])
    return true
  } catch {
    return false
  }
})()
if (!isInstalled) console.warn('Skipped: tmux is not installed.')

/** The fleet's own tmux in a home, for what a person does at a terminal. Undefined: tmux is not installed. */
export const tmuxIn = isInstalled
  ? (home: string) => {
      const run = (...args: string[]) =>
        execFileSync('tmux', ['-S', `${home}/tmux/socket`, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim()
      const end = () => {
        try {
          run('kill-server')
        } catch {
          // It has ended already.
        }
      }
      return { run, end }
    }
  : undefined
