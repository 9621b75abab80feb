import { expect, test } from 'vitest'
import type { Screen, ScreenState } from '../../domain/rules/screen.ts'
import type { Pane, Tmux } from '../../tmux/tmux.ts'
import { typeLine } from './typing.ts'

/** A client whose screen shows one word for its state, and changes with what is typed. */
function aClient(after: { key?: ScreenState; paste?: ScreenState }) {
  const typed: string[] = []
  let [state, text]: [ScreenState, string] = ['idle', '']
  const screen = (): Screen => {
    const lines = [text]
    return { lines, bright: lines, cursor: { x: text.length, y: 0 }, scrolled: false }
  }
  const become = (next: ScreenState | undefined, what: string) => {
    typed.push(what)
    text += what
    state = next ?? 'typing'
    return true
  }
  const tmux = {
    look: async () => ({ over: false, screen: screen() }),
    press: async (_pane: Pane, _seen: Screen, keys: string[]) => become(after.key, keys.join()),
    paste: async (_pane: Pane, _seen: Screen, line: string) => become(after.paste, line),
  }
  return { typed, typing: { tmux: tmux as unknown as Tmux, pane: {} as Pane, judge: () => state } }
}

test('a question that comes up in the middle of typing gets no further key', async () => {
  for (const state of ['prompt', 'busy'] as const) {
    const early = aClient({ key: state })
    const why = expect.stringMatching(/question|middle of a turn/)
    expect(await typeLine(early.typing, 'make', { first: '!' })).toEqual({ why, isTyped: false })
    expect(early.typed).toEqual(['!'])

    const late = aClient({ paste: state })
    expect(await typeLine(late.typing, 'make')).toEqual({ why, isTyped: true })
    expect(late.typed).toEqual(['make'])
  }
  const calm = aClient({})
  expect(await typeLine(calm.typing, 'make', { first: '!' })).toBeUndefined()
  expect(calm.typed).toEqual(['!', 'make', 'Enter'])
})
