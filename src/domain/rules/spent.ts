const money = (dollars: number): string => `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`

/** The end of a sentence about a budget: what was spent, and by how much that is too much. */
export function spentInWords(spentUsd: number, limitUsd: number, how: 'spent' | 'used today'): string {
  const over = spentUsd - limitUsd < 0.00005 ? '' : `, ${money(spentUsd - limitUsd)} over`
  return `: ${money(spentUsd)} ${how}${over}.`
}

/** A text for somebody who may not see what something cost. */
export const withoutSpent = (text: string): string =>
  text.replace(/: \$[\d.]+ (?:spent|used today)(?:, \$[\d.]+ over)?\./g, '.')
