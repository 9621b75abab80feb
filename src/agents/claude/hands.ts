import type { Opening, Program, RemoteControl } from '../contract.ts'
import { pick } from '../environment.ts'
import { uuidOf } from './dialogue.ts'
import { CLAUDE_ENVIRONMENT } from './launch.ts'

/** In a person's terminal the client asks the person itself, so neither the preset nor its tools are passed on. */
export const openClaude = ({ conversation, model }: Opening): Program => ({
  argv: ['claude', `--resume=${uuidOf(conversation)}`, ...(model ? [`--model=${model}`] : [])],
  env: {},
})

/** The addresses of the client's own pages. Other addresses it prints are not the session. */
const LINK = /https:\/\/(?:[\w-]+\.)*claude\.(?:ai|com)\/[^\s"'<>)\]]+/g
/** Its help and welcome text name this page, which is not a session. */
const NO_SESSION = /^https:\/\/claude\.ai\/code\/?$/

export const claudeRemote: RemoteControl = {
  launch: environment => ({
    argv: ['claude', 'remote-control'],
    env: { ...pick(environment, CLAUDE_ENVIRONMENT), DISABLE_AUTOUPDATER: '1' },
  }),
  link: printed => printed.match(LINK)?.find(link => !NO_SESSION.test(link)),
  refusal: printed =>
    /must be logged in to use Remote Control/.test(printed)
      ? 'Claude Code is not signed in with a claude.ai account, which remote control needs. Sign in: claude auth login'
      : undefined,
}
