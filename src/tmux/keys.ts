/** Keys that a person may press in a pane. Every other one could be anything. */
export const KEYS = [
  ...['Enter', 'Escape', 'Up', 'Down', 'Left', 'Right', 'Tab', 'Space', 'BSpace', 'C-c', 'C-u'],
  ...['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'y', 'n', '!'],
] as const
export type Key = (typeof KEYS)[number]
