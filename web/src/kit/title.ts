let title = 'Flotilla'
let running = 0

function show(): void {
  document.title = `${running ? `(${running}) ` : ''}${title}`
}

/** What is shown, and before it how many agents are at work: it can be read off a tab in the background. */
export function setTitle(page: string): void {
  title = `${page} · Flotilla`
  show()
}

export function setRunning(count: number): void {
  running = count
  show()
}
