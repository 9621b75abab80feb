import { Text } from '@radix-ui/themes'
import type { HeldWorktree } from '../api/client.ts'
import { plain } from './plain.ts'

/** Worktrees with work that would be lost if they were removed. */
export function HeldWork({ worktrees }: { worktrees: readonly HeldWorktree[] }) {
  return worktrees.map(({ path, left_behind }) => (
    <Text key={path} size="2">
      {plain(left_behind)} <code>{plain(path)}</code>
    </Text>
  ))
}
